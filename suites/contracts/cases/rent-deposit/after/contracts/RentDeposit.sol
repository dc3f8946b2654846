// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {IERC20} from "./IERC20.sol";
import {TokenTransfer} from "./TokenTransfer.sol";

/// Keeps the deposits of tenants, in whatever token both sides agreed on. The landlord may claim a part; the rest goes back.
contract RentDeposit {
    using TokenTransfer for IERC20;

    struct Lease {
        address tenant;
        address landlord;
        IERC20 token;
        uint256 deposit;
        uint64 endsAt;
        bool closed;
    }

    uint64 public constant CLAIM_TIME = 14 days;

    Lease[] public leases;
    mapping(uint256 => uint256) public claimedOf;

    event Begun(uint256 indexed id, address indexed tenant, address indexed landlord, uint256 deposit);
    event Claimed(uint256 indexed id, uint256 amount);
    event Closed(uint256 indexed id);

    function begin(address landlord, IERC20 token, uint256 amount, uint64 endsAt) external returns (uint256 id) {
        require(landlord != address(0) && amount > 0 && endsAt > block.timestamp, "bad lease");
        token.pull(msg.sender, amount);
        id = leases.length;
        leases.push(Lease(msg.sender, landlord, token, amount, endsAt, false));
        emit Begun(id, msg.sender, landlord, amount);
    }

    /// The landlord claims a part of the deposit, at the latest two weeks after the end.
    function claim(uint256 id, uint256 amount) external {
        Lease storage lease = leases[id];
        require(msg.sender == lease.landlord && !lease.closed, "cannot claim");
        require(block.timestamp <= lease.endsAt + CLAIM_TIME, "too late");
        require(amount <= lease.deposit, "above the deposit");
        claimedOf[id] = amount;
        emit Claimed(id, amount);
    }

    /// Pays out both sides once nothing can be claimed any more.
    function close(uint256 id) external {
        Lease storage lease = leases[id];
        require(!lease.closed && block.timestamp > lease.endsAt + CLAIM_TIME, "cannot close");
        lease.closed = true;
        uint256 claimed = claimedOf[id];
        if (claimed > 0) lease.token.push(lease.landlord, claimed);
        if (claimed < lease.deposit) lease.token.push(lease.tenant, lease.deposit - claimed);
        emit Closed(id);
    }
}
