// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {IERC20} from "./IERC20.sol";
import {TokenTransfer} from "./TokenTransfer.sol";

/// Token grants of a company to its staff: nothing for the first year, then evenly up to the end.
contract GrantBook {
    using TokenTransfer for IERC20;

    struct Grant {
        address holder;
        uint256 total;
        uint256 released;
        uint64 start;
        uint64 duration;
    }

    uint64 public constant CLIFF = 365 days;

    IERC20 public immutable token;
    address public immutable board;
    uint256 public count;
    mapping(uint256 => Grant) public grants;

    event Granted(uint256 indexed id, address indexed holder, uint256 total);
    event Released(uint256 indexed id, uint256 amount);
    event Assigned(uint256 indexed id, address indexed holder);

    modifier onlyBoard() {
        require(msg.sender == board, "only the board");
        _;
    }

    constructor(IERC20 token_) {
        token = token_;
        board = msg.sender;
    }

    function grant(address holder, uint256 total, uint64 duration) external onlyBoard returns (uint256 id) {
        require(holder != address(0) && total > 0, "bad grant");
        require(duration >= CLIFF, "too short");
        id = count++;
        grants[id] = Grant(holder, total, 0, uint64(block.timestamp), duration);
        token.pull(msg.sender, total);
        emit Granted(id, holder, total);
    }

    /// Moves a grant to a new wallet of its holder.
    function assign(uint256 id, address wallet) external {
        Grant storage own = grants[id];
        require(msg.sender == own.holder, "not the holder");
        require(wallet != address(0) && wallet != own.holder, "bad wallet");
        own.holder = wallet;
        emit Assigned(id, wallet);
    }

    /// Sends what is due to the holder; anybody may call it.
    function release(uint256 id) external {
        Grant storage own = grants[id];
        uint256 amount = vestedOf(id) - own.released;
        require(amount > 0, "nothing due");
        own.released += amount;
        token.push(own.holder, amount);
        emit Released(id, amount);
    }

    function vestedOf(uint256 id) public view returns (uint256) {
        Grant memory own = grants[id];
        uint256 passed = block.timestamp - own.start;
        if (passed < CLIFF) return 0;
        if (passed >= own.duration) return own.total;
        return (own.total * passed) / own.duration;
    }
}
