// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {LockBox, LockBoxFactory} from "./contracts/LockBox.sol";
import {IERC20} from "./contracts/IERC20.sol";
import {Actor} from "./Actor.sol";
import {TestToken} from "./TestToken.sol";

contract Proof {
    TestToken token;
    LockBox box;
    Actor beneficiary;

    function step1() external returns (uint256) {
        token = new TestToken();
        beneficiary = new Actor();
        Actor stranger = new Actor();
        LockBoxFactory factory = new LockBoxFactory();
        box = factory.make(IERC20(address(token)), address(beneficiary), uint64(block.timestamp + 30 days));
        token.mint(address(box), 100);
        box.openEarlier(uint64(block.timestamp + 20 days));
        box.leave();
        IERC20 own = IERC20(address(token));
        bytes memory again = abi.encodeCall(LockBox.prepare, (own, address(stranger), address(stranger), 0));
        stranger.act(address(box), 0, again);
        stranger.act(address(box), 0, abi.encodeCall(LockBox.open, ()));
        require(token.balanceOf(address(stranger)) == 0, "a stranger opened the box");
        return 20 days;
    }

    function step2() external {
        box.open();
        require(token.balanceOf(address(beneficiary)) == 100, "the beneficiary was not paid");
    }
}
