// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {IERC20} from "./IERC20.sol";
import {TokenTransfer} from "./TokenTransfer.sol";

/// Lets the owner of a deposit allow others to spend from it, each up to a monthly limit.
contract CreditLine {
    using TokenTransfer for IERC20;

    uint256 public constant PERIOD = 30 days;

    struct Line {
        uint128 limit;
        uint128 spent;
        uint64 since;
    }

    IERC20 public immutable token;
    mapping(address => uint256) public depositOf;
    mapping(address => mapping(address => Line)) public lines;

    event Spent(address indexed owner, address indexed spender, uint256 amount);

    constructor(IERC20 token_) {
        token = token_;
    }

    function deposit(uint256 amount) external {
        depositOf[msg.sender] += amount;
        token.pull(msg.sender, amount);
    }

    function withdraw(uint256 amount) external {
        depositOf[msg.sender] -= amount;
        token.push(msg.sender, amount);
    }

    /// Sets the monthly limit of a spender; what was spent this month stays spent.
    function allow(address spender, uint128 limit) external {
        Line storage line = lines[msg.sender][spender];
        if (line.since == 0) line.since = uint64(block.timestamp);
        line.limit = limit;
    }

    function left(address owner, address spender) public view returns (uint256) {
        Line memory line = lines[owner][spender];
        uint256 spent = block.timestamp >= line.since + PERIOD ? 0 : line.spent;
        unchecked {
            return line.limit - spent;
        }
    }

    function spend(address owner, address to, uint128 amount) external {
        require(amount <= left(owner, msg.sender), "above the limit");
        Line storage line = lines[owner][msg.sender];
        if (block.timestamp >= line.since + PERIOD) {
            line.since = uint64(block.timestamp);
            line.spent = 0;
        }
        line.spent += amount;
        depositOf[owner] -= amount;
        token.push(to, amount);
        emit Spent(owner, msg.sender, amount);
    }
}
