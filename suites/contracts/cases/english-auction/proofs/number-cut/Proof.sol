// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {EnglishAuction} from "./contracts/EnglishAuction.sol";
import {IERC20} from "./contracts/IERC20.sol";
import {Actor} from "./Actor.sol";
import {TestToken} from "./TestToken.sol";

contract Proof {
    TestToken token;
    EnglishAuction auction;
    Actor honest;

    function step1() external returns (uint256) {
        token = new TestToken();
        auction = new EnglishAuction(IERC20(address(token)));
        honest = new Actor();
        Actor cheat = new Actor();
        token.mint(address(honest), 100 ether);
        token.mint(address(cheat), 1);
        honest.mustAct(address(token), 0, abi.encodeCall(TestToken.approve, (address(auction), 100 ether)));
        cheat.mustAct(address(token), 0, abi.encodeCall(TestToken.approve, (address(auction), 1)));
        auction.open(1 days);
        honest.mustAct(address(auction), 0, abi.encodeCall(EnglishAuction.bid, (0, 100 ether)));
        cheat.act(address(auction), 0, abi.encodeCall(EnglishAuction.bid, (0, uint256(1 << 96) + 1)));
        (, address bidder, , , ) = auction.lots(0);
        require(bidder == address(honest), "one unit outbid a hundred ether");
        return 1 days;
    }

    function step2() external {
        auction.settle(0);
        require(token.balanceOf(address(this)) == 100 ether, "the seller was not paid the winning bid");
    }
}
