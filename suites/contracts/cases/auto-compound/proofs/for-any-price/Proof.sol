// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {AutoCompound, ISwap, IQuote} from "./contracts/AutoCompound.sol";
import {IERC20} from "./contracts/IERC20.sol";
import {TestToken} from "./TestToken.sol";

/// A constant-product pool of both tokens without a fee, with an average of one for one.
contract Pool is ISwap, IQuote {
    function swap(IERC20 from, IERC20 to, uint256 amountIn, uint256 atLeast, address receiver) external returns (uint256 out) {
        uint256 a = from.balanceOf(address(this));
        uint256 b = to.balanceOf(address(this));
        out = b - (a * b) / (a + amountIn);
        require(out >= atLeast, "less than wanted");
        from.transferFrom(msg.sender, address(this), amountIn);
        to.transfer(receiver, out);
    }

    function worth(IERC20, IERC20, uint256 amount) external pure returns (uint256) {
        return amount;
    }
}

contract Proof {
    TestToken stake;
    TestToken reward;
    Pool pool;
    AutoCompound vault;

    function trade(TestToken from, TestToken to, uint256 amount) private returns (uint256) {
        from.approve(address(pool), amount);
        return pool.swap(IERC20(address(from)), IERC20(address(to)), amount, 0, address(this));
    }

    function step1() external {
        stake = new TestToken();
        reward = new TestToken();
        pool = new Pool();
        vault = new AutoCompound(IERC20(address(stake)), IERC20(address(reward)), pool, pool);
        stake.mint(address(pool), 1000 ether);
        reward.mint(address(pool), 1000 ether);
        stake.mint(address(this), 10 ether);
        reward.mint(address(this), 9000 ether);
        stake.approve(address(vault), 10 ether);
        vault.enter(10 ether);
        reward.mint(address(vault), 10 ether);
        // A sandwich: sell before the vault does, and buy back after it.
        uint256 got = trade(reward, stake, 9000 ether);
        try vault.compound() {} catch {}
        trade(stake, reward, got);
        if (reward.balanceOf(address(vault)) > 0) vault.compound();
        require(vault.held() >= 19 ether, "most of the reward went to somebody in between");
    }
}
