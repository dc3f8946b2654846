// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {GrantBook} from "./contracts/GrantBook.sol";
import {IERC20} from "./contracts/IERC20.sol";
import {Actor} from "./Actor.sol";
import {TestToken} from "./TestToken.sol";

contract Proof {
    TestToken token;
    GrantBook book;
    Actor holder;
    Actor stranger;

    function step1() external returns (uint256) {
        token = new TestToken();
        book = new GrantBook(IERC20(address(token)));
        holder = new Actor();
        stranger = new Actor();
        token.mint(address(this), 100);
        token.approve(address(book), 100);
        book.grant(address(holder), 100, 730 days);
        return 730 days;
    }

    function step2() external {
        stranger.act(address(book), 0, abi.encodeCall(GrantBook.assign, (0, address(stranger))));
        stranger.act(address(book), 0, abi.encodeCall(GrantBook.release, (0)));
        require(token.balanceOf(address(stranger)) == 0, "a stranger got the grant");
        Actor wallet = new Actor();
        if (token.balanceOf(address(holder)) == 0) {
            holder.mustAct(address(book), 0, abi.encodeCall(GrantBook.assign, (0, address(wallet))));
            book.release(0);
            require(token.balanceOf(address(wallet)) == 100, "the new wallet was not paid");
        }
    }
}
