// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {RentDeposit} from "./contracts/RentDeposit.sol";
import {IERC20} from "./contracts/IERC20.sol";
import {Actor} from "./Actor.sol";
import {TestToken} from "./TestToken.sol";

/// Keeps a tenth of whatever is moved.
contract TaxedToken is TestToken {
    function move(address from, address to, uint256 amount) internal override {
        balanceOf[from] -= amount;
        balanceOf[to] += amount - amount / 10;
    }
}

contract Proof {
    TaxedToken token;
    RentDeposit rent;
    Actor first;
    Actor second;

    function step1() external returns (uint256) {
        token = new TaxedToken();
        rent = new RentDeposit();
        first = new Actor();
        second = new Actor();
        Actor[2] memory tenants = [first, second];
        for (uint256 i = 0; i < 2; i++) {
            token.mint(address(tenants[i]), 1000);
            tenants[i].mustAct(address(token), 0, abi.encodeCall(TestToken.approve, (address(rent), 1000)));
            bytes memory begin =
                abi.encodeCall(RentDeposit.begin, (address(this), IERC20(address(token)), 1000, uint64(block.timestamp + 30 days)));
            tenants[i].mustAct(address(rent), 0, begin);
        }
        return 50 days;
    }

    function step2() external {
        rent.close(0);
        (bool ok, ) = address(rent).call(abi.encodeCall(RentDeposit.close, (1)));
        require(ok, "the first tenant was paid with the deposit of the second");
        require(token.balanceOf(address(first)) == token.balanceOf(address(second)), "the tenants are not treated alike");
        require(token.balanceOf(address(second)) == 810, "a deposit did not come back");
    }
}
