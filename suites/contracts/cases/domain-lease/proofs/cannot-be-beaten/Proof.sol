// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {DomainLease} from "./contracts/DomainLease.sol";
import {Actor} from "./Actor.sol";

/// Accepts no ether.
contract Blocker {
    function offer(DomainLease lease, bytes32 id) external payable {
        lease.offer{value: msg.value}(id);
    }
}

contract Proof {
    DomainLease lease;
    Actor honest;
    bytes32 constant ID = "garden";

    function step1() external returns (uint256) {
        lease = new DomainLease();
        honest = new Actor{value: 10 ether}();
        Blocker blocker = new Blocker();
        blocker.offer{value: 1 wei}(lease, ID);
        honest.act(address(lease), 10 ether, abi.encodeCall(DomainLease.offer, (ID)));
        (, , address best, , ) = lease.names(ID);
        require(best == address(honest), "one wei keeps ten ether from winning");
        return 3 days;
    }

    function step2() external {
        lease.close(ID);
        (address tenant, , , , ) = lease.names(ID);
        require(tenant == address(honest) && lease.earned() == 10 ether, "the name was not leased");
    }
}
