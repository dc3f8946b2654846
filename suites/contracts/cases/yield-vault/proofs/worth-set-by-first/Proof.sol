// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {YieldVault} from "./contracts/YieldVault.sol";
import {IERC20} from "./contracts/IERC20.sol";
import {Actor} from "./Actor.sol";
import {TestToken} from "./TestToken.sol";

contract Proof {
    function step1() external {
        TestToken token = new TestToken();
        YieldVault vault = new YieldVault(IERC20(address(token)));
        Actor thief = new Actor();
        token.mint(address(thief), 100 ether + 1);
        token.mint(address(this), 100 ether);
        token.approve(address(vault), 100 ether);
        thief.mustAct(address(token), 0, abi.encodeCall(TestToken.approve, (address(vault), 1)));
        thief.mustAct(address(vault), 0, abi.encodeCall(YieldVault.deposit, (1, address(thief))));
        thief.mustAct(address(token), 0, abi.encodeCall(TestToken.transfer, (address(vault), 100 ether)));
        vault.deposit(100 ether, address(this));
        uint256 shares = vault.balanceOf(address(thief));
        thief.mustAct(address(vault), 0, abi.encodeCall(YieldVault.redeem, (shares, address(thief))));
        require(token.balanceOf(address(thief)) <= 100 ether + 1, "the first depositor took a part of the second deposit");
        vault.redeem(vault.balanceOf(address(this)), address(this));
        require(token.balanceOf(address(this)) > 99 ether, "a depositor lost money");
    }
}
