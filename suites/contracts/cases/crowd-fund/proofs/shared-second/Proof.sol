// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {CrowdFund} from "./contracts/CrowdFund.sol";
import {Actor} from "./Actor.sol";

contract Proof {
    CrowdFund fund;
    Actor owner;
    Actor backer;

    function step1() external returns (uint256) {
        fund = new CrowdFund();
        owner = new Actor();
        backer = new Actor{value: 10 ether}();
        // The next step runs in the very second of the first project's deadline.
        owner.mustAct(address(fund), 0, abi.encodeCall(CrowdFund.start, (10 ether, 1 days)));
        fund.start(50 ether, 90 days);
        fund.back{value: 20 ether}(1);
        backer.mustAct(address(fund), 10 ether, abi.encodeCall(CrowdFund.back, (0)));
        return 1 days - 12;
    }

    function step2() external returns (uint256) {
        owner.act(address(fund), 0, abi.encodeCall(CrowdFund.pay, (0)));
        backer.act(address(fund), 0, abi.encodeCall(CrowdFund.takeBack, (0)));
        require(address(owner).balance + address(backer).balance <= 10 ether, "the same money was paid twice");
        return 60;
    }

    function step3() external {
        if (address(backer).balance == 0) {
            if (address(owner).balance == 0) fund.pay(0);
            require(address(owner).balance == 10 ether, "the project was not paid");
        }
        require(address(fund).balance == 20 ether, "money of another project is missing");
    }
}
