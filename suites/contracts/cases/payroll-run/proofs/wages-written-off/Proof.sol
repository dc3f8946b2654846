// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {PayrollRun} from "./contracts/PayrollRun.sol";
import {Actor} from "./Actor.sol";

/// A wallet that keeps a count, for which 2300 gas are not enough.
contract CountingWallet {
    uint256 public received;

    receive() external payable {
        received += msg.value;
    }

    function fetch(PayrollRun payroll) external {
        payroll.fetch();
    }
}

contract Proof {
    function step1() external {
        PayrollRun payroll = new PayrollRun{value: 10 ether}();
        Actor plain = new Actor();
        CountingWallet wallet = new CountingWallet();
        payroll.hire(address(plain), 1 ether);
        payroll.hire(address(wallet), 1 ether);
        payroll.book(address(plain), 2);
        payroll.book(address(wallet), 3);
        payroll.run();
        require(address(plain).balance == 2 ether, "plain accounts are not paid");
        uint256 owed = payroll.owedTo(address(wallet));
        require(address(wallet).balance + owed == 3 ether, "wages were written off without being paid");
        require(payroll.totalOwed() == owed, "the total is wrong");
        if (owed > 0) wallet.fetch(payroll);
        require(address(wallet).balance == 3 ether && payroll.totalOwed() == 0, "wages cannot be fetched");
    }
}
