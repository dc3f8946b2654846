// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {SharedSafe} from "./contracts/SharedSafe.sol";
import {Actor} from "./Actor.sol";

contract Proof {
    SharedSafe safe;
    Actor[4] people;

    function confirm(uint256 who, uint256 id) private {
        people[who].mustAct(address(safe), 0, abi.encodeCall(SharedSafe.confirm, (id)));
    }

    function propose(uint256 who, address to, uint256 value, bytes memory data) private {
        people[who].mustAct(address(safe), 0, abi.encodeCall(SharedSafe.propose, (to, value, data)));
    }

    function step1() external {
        address[] memory owners = new address[](3);
        for (uint256 i = 0; i < 4; i++) {
            people[i] = new Actor();
            if (i < 3) owners[i] = address(people[i]);
        }
        safe = new SharedSafe{value: 10 ether}(owners, 2);
        // The key of the third owner is stolen; the others replace it.
        propose(2, address(people[2]), 9 ether, "");
        confirm(2, 0);
        propose(0, address(safe), 0, abi.encodeCall(SharedSafe.replaceOwner, (address(people[2]), address(people[3]))));
        confirm(0, 1);
        confirm(1, 1);
        people[0].mustAct(address(safe), 0, abi.encodeCall(SharedSafe.execute, (1)));
        // One owner is talked into the open proposal; a second one of today's never agrees.
        confirm(1, 0);
        people[1].act(address(safe), 0, abi.encodeCall(SharedSafe.execute, (0)));
        require(address(people[2]).balance == 0, "one owner of today was enough");
        propose(0, address(this), 1 ether, "");
        confirm(0, 2);
        confirm(3, 2);
        uint256 before = address(this).balance;
        people[0].mustAct(address(safe), 0, abi.encodeCall(SharedSafe.execute, (2)));
        require(address(this).balance == before + 1 ether, "two owners could not pay");
    }

    receive() external payable {}
}
