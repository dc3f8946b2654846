// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {TabLedger} from "./contracts/TabLedger.sol";
import {Actor} from "./Actor.sol";

contract Guest {
    TabLedger immutable tabs;
    address immutable friend;

    constructor(TabLedger tabs_, address friend_) payable {
        tabs = tabs_;
        friend = friend_;
        tabs.load{value: msg.value}();
    }

    function run() external {
        tabs.cashOut(tabs.creditOf(address(this)));
    }

    receive() external payable {
        try tabs.give(friend, msg.value) {} catch {}
    }
}

contract Proof {
    function step1() external {
        TabLedger tabs = new TabLedger();
        Actor other = new Actor{value: 5 ether}();
        other.mustAct(address(tabs), 5 ether, abi.encodeCall(TabLedger.load, ()));
        Actor friend = new Actor();
        Guest guest = new Guest{value: 5 ether}(tabs, address(friend));
        guest.run();
        friend.act(address(tabs), 0, abi.encodeCall(TabLedger.cashOut, (5 ether)));
        require(address(guest).balance + address(friend).balance == 5 ether, "credit was paid out twice");
        other.mustAct(address(tabs), 0, abi.encodeCall(TabLedger.give, (address(friend), 1 ether)));
        other.mustAct(address(tabs), 0, abi.encodeCall(TabLedger.cashOut, (4 ether)));
        require(address(other).balance == 4 ether, "an honest guest was not paid");
    }
}
