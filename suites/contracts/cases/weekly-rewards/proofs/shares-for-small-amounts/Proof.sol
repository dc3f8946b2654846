// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {StakeRewards} from "./contracts/StakeRewards.sol";
import {IERC20} from "./contracts/IERC20.sol";
import {Actor} from "./Actor.sol";
import {TestToken} from "./TestToken.sol";

contract Proof {
    function step1() external {
        TestToken token = new TestToken();
        StakeRewards pool = new StakeRewards(IERC20(address(token)));
        token.mint(address(this), 1e12);
        token.approve(address(pool), 1e12);
        pool.enter(2e6);
        pool.reward(8e6);
        // A share is worth five units now.
        Actor stranger = new Actor();
        for (uint256 i = 0; i < 100; i++) {
            stranger.act(address(pool), 0, abi.encodeCall(StakeRewards.exit, (4)));
        }
        require(token.balanceOf(address(stranger)) == 0, "tokens were taken without any shares");
        uint256 before = token.balanceOf(address(this));
        pool.exit(pool.worthOf(address(this)));
        require(token.balanceOf(address(this)) - before == 5e6, "the owner of shares is not paid their worth");
    }
}
