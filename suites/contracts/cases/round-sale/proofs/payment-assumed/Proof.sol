// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {RoundSale} from "./contracts/RoundSale.sol";
import {IERC20} from "./contracts/IERC20.sol";
import {Actor} from "./Actor.sol";
import {TestToken} from "./TestToken.sol";

/// Answers false where others revert, as some old tokens do.
contract PoliteToken is TestToken {
    function transferFrom(address from, address to, uint256 amount) external override returns (bool) {
        if (allowance[from][msg.sender] < amount || balanceOf[from] < amount) return false;
        allowance[from][msg.sender] -= amount;
        move(from, to, amount);
        return true;
    }
}

contract Proof {
    function step1() external {
        TestToken unit = new TestToken();
        PoliteToken polite = new PoliteToken();
        IERC20 currency = IERC20(address(polite));
        RoundSale sale = new RoundSale(IERC20(address(unit)), uint64(block.timestamp + 1 days), 1000 ether);
        unit.mint(address(sale), 1000 ether);
        sale.list(currency, 2 ether);
        Actor honest = new Actor();
        polite.mint(address(honest), 1 ether);
        honest.mustAct(address(polite), 0, abi.encodeCall(TestToken.approve, (address(sale), 1 ether)));
        honest.mustAct(address(sale), 0, abi.encodeCall(RoundSale.buy, (currency, 1 ether)));
        require(sale.unitsOf(address(honest)) == 2 ether, "who paid got no units");
        require(polite.balanceOf(address(this)) == 1 ether, "the issuer was not paid");
        Actor cheat = new Actor();
        cheat.act(address(sale), 0, abi.encodeCall(RoundSale.buy, (currency, 100 ether)));
        require(sale.unitsOf(address(cheat)) == 0, "units were sold for nothing");
    }
}
