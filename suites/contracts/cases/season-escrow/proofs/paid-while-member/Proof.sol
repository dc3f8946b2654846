// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {SeasonEscrow} from "./contracts/SeasonEscrow.sol";
import {Actor} from "./Actor.sol";

contract Thief {
    SeasonEscrow immutable escrow;

    constructor(SeasonEscrow escrow_) payable {
        escrow = escrow_;
        escrow.join{value: msg.value}();
    }

    function run() external {
        escrow.leave();
    }

    receive() external payable {
        if (address(escrow).balance >= msg.value) {
            try escrow.leave() {} catch {}
        }
    }
}

contract Proof {
    SeasonEscrow escrow;
    Actor member;

    function step1() external returns (uint256) {
        escrow = new SeasonEscrow(address(this));
        member = new Actor{value: 8 ether}();
        member.mustAct(address(escrow), 8 ether, abi.encodeCall(SeasonEscrow.join, ()));
        Thief thief = new Thief{value: 8 ether}(escrow);
        thief.run();
        require(address(thief).balance <= 8 ether, "a member took more than was paid in");
        return 30 days;
    }

    function step2() external {
        uint256 before = address(this).balance;
        escrow.draw();
        require(address(this).balance == before + 1 ether, "the farm got no month");
        member.mustAct(address(escrow), 0, abi.encodeCall(SeasonEscrow.leave, ()));
        require(address(member).balance == 7 ether, "a member lost money");
    }

    receive() external payable {}
}
