// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {CreditLine} from "./contracts/CreditLine.sol";
import {IERC20} from "./contracts/IERC20.sol";
import {Actor} from "./Actor.sol";
import {TestToken} from "./TestToken.sol";

contract Proof {
    TestToken token;
    CreditLine credit;
    Actor spender;

    function step1() external returns (uint256) {
        token = new TestToken();
        credit = new CreditLine(IERC20(address(token)));
        spender = new Actor();
        token.mint(address(this), 1000);
        token.approve(address(credit), 1000);
        credit.deposit(1000);
        credit.allow(address(spender), 100);
        spender.mustAct(address(credit), 0, abi.encodeCall(CreditLine.spend, (address(this), address(spender), 60)));
        credit.allow(address(spender), 50);
        spender.act(address(credit), 0, abi.encodeCall(CreditLine.spend, (address(this), address(spender), 900)));
        require(token.balanceOf(address(spender)) == 60, "the spender took more than the limit");
        return 30 days;
    }

    function step2() external {
        spender.mustAct(address(credit), 0, abi.encodeCall(CreditLine.spend, (address(this), address(spender), 50)));
        require(token.balanceOf(address(spender)) == 110, "the next month's limit cannot be spent");
    }
}
