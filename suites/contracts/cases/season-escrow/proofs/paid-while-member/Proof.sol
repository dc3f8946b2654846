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
    function step1() external {
        SeasonEscrow escrow = new SeasonEscrow(address(this));
        Actor member = new Actor{value: 8 ether}();
        member.mustAct(address(escrow), 8 ether, abi.encodeCall(SeasonEscrow.join, ()));
        Thief thief = new Thief{value: 8 ether}(escrow);
        thief.run();
        require(address(thief).balance <= 8 ether, "a member took more than was paid in");
        member.mustAct(address(escrow), 0, abi.encodeCall(SeasonEscrow.leave, ()));
        require(address(member).balance == 8 ether, "a member lost money");
    }
}
