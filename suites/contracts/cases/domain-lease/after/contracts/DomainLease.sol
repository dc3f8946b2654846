// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/// Leases names for a year at a time. While a name is on offer, the highest offer stands; an offer that is beaten is sent
/// back at once.
contract DomainLease {
    uint64 public constant OFFER_TIME = 3 days;
    uint64 public constant LEASE_TIME = 365 days;

    struct Name {
        address tenant;
        uint64 leasedUntil;
        address best;
        uint256 offer;
        uint64 closesAt;
    }

    address public immutable registrar;
    uint256 public earned;
    mapping(bytes32 => Name) public names;

    event Offered(bytes32 indexed name, address indexed by, uint256 offer);
    event Leased(bytes32 indexed name, address indexed tenant, uint256 price);

    constructor() {
        registrar = msg.sender;
    }

    function offer(bytes32 id) external payable {
        Name storage name = names[id];
        require(block.timestamp >= name.leasedUntil, "leased");
        if (name.closesAt == 0) name.closesAt = uint64(block.timestamp) + OFFER_TIME;
        require(block.timestamp < name.closesAt, "offers are closed");
        require(msg.value > name.offer, "too low");
        (address previous, uint256 amount) = (name.best, name.offer);
        name.best = msg.sender;
        name.offer = msg.value;
        if (previous != address(0)) {
            (bool ok, ) = payable(previous).call{value: amount}("");
            require(ok, "cannot send back");
        }
        emit Offered(id, msg.sender, msg.value);
    }

    function close(bytes32 id) external {
        Name storage name = names[id];
        require(name.closesAt != 0 && block.timestamp >= name.closesAt, "still open");
        name.tenant = name.best;
        name.leasedUntil = uint64(block.timestamp) + LEASE_TIME;
        earned += name.offer;
        emit Leased(id, name.best, name.offer);
        (name.best, name.offer, name.closesAt) = (address(0), 0, 0);
    }

    function collect() external {
        require(msg.sender == registrar, "only the registrar");
        uint256 amount = earned;
        earned = 0;
        (bool ok, ) = payable(registrar).call{value: amount}("");
        require(ok, "payment refused");
    }
}
