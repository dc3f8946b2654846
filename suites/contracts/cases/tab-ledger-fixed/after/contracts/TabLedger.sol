// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/// Prepaid tabs of a group of cafes. Guests load ether, pay at the counters, give credit to friends and cash out the rest.
contract TabLedger {
    address public immutable operator;
    mapping(address => uint256) public creditOf;
    mapping(address => bool) public isCounter;
    uint256 private state = 1;

    event Loaded(address indexed guest, uint256 amount);
    event Paid(address indexed guest, address indexed counter, uint256 amount);
    event Given(address indexed from, address indexed to, uint256 amount);
    event CashedOut(address indexed guest, uint256 amount);

    modifier locked() {
        require(state == 1, "busy");
        state = 2;
        _;
        state = 1;
    }

    constructor() {
        operator = msg.sender;
    }

    function setCounter(address counter, bool allowed) external {
        require(msg.sender == operator, "only the operator");
        isCounter[counter] = allowed;
    }

    function load() external payable {
        creditOf[msg.sender] += msg.value;
        emit Loaded(msg.sender, msg.value);
    }

    /// Pays at a counter; the counter cashes out later like anybody else.
    function pay(address counter, uint256 amount) external locked {
        require(isCounter[counter], "unknown counter");
        creditOf[msg.sender] -= amount;
        creditOf[counter] += amount;
        emit Paid(msg.sender, counter, amount);
    }

    /// Gives credit to a friend.
    function give(address to, uint256 amount) external {
        require(to != address(0) && to != msg.sender, "bad receiver");
        creditOf[msg.sender] -= amount;
        creditOf[to] += amount;
        emit Given(msg.sender, to, amount);
    }

    /// Takes credit out as ether.
    function cashOut(uint256 amount) external locked {
        uint256 credit = creditOf[msg.sender];
        require(amount > 0 && amount <= credit, "not enough credit");
        creditOf[msg.sender] = credit - amount;
        emit CashedOut(msg.sender, amount);
        (bool ok, ) = payable(msg.sender).call{value: amount}("");
        require(ok, "payment refused");
    }
}
