// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/// A raffle for the village hall: tickets for a day, then one of the buyers wins three quarters, and the hall gets the rest.
contract VillageRaffle {
    uint256 public constant PRICE = 0.01 ether;
    uint256 public constant DURATION = 1 days;

    address public immutable hall;
    uint256 public round;
    uint256 public endsAt;
    address[] private tickets;
    mapping(address => uint256) public wonBy;

    event Bought(uint256 indexed round, address indexed buyer, uint256 ticket);
    event Drawn(uint256 indexed round, address indexed winner, uint256 prize);

    constructor(address hall_) {
        require(hall_ != address(0), "hall missing");
        hall = hall_;
        endsAt = block.timestamp + DURATION;
    }

    function buy() external payable {
        require(block.timestamp < endsAt, "sale over");
        require(msg.value == PRICE, "wrong price");
        emit Bought(round, msg.sender, tickets.length);
        tickets.push(msg.sender);
    }

    /// Draws the winner and starts the next round; anybody may call it.
    function draw() external {
        require(block.timestamp >= endsAt, "sale still open");
        require(tickets.length > 0, "no tickets");
        uint256 seed = uint256(keccak256(abi.encode(block.prevrandao, block.timestamp, msg.sender, round)));
        address winner = tickets[seed % tickets.length];
        uint256 pot = tickets.length * PRICE;
        uint256 prize = (pot * 3) / 4;
        wonBy[winner] += prize;
        wonBy[hall] += pot - prize;
        emit Drawn(round, winner, prize);
        delete tickets;
        round += 1;
        endsAt = block.timestamp + DURATION;
    }

    function ticketCount() external view returns (uint256) {
        return tickets.length;
    }

    function take() external {
        uint256 amount = wonBy[msg.sender];
        require(amount > 0, "nothing won");
        wonBy[msg.sender] = 0;
        (bool ok, ) = payable(msg.sender).call{value: amount}("");
        require(ok, "payment refused");
    }
}
