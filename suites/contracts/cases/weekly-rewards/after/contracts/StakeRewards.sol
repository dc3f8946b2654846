// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {IERC20} from "./IERC20.sol";
import {TokenTransfer} from "./TokenTransfer.sol";

/// Shares of a pool that holds a token and grows by what is added to it. Shares can be bought and sold at the pool's worth.
contract StakeRewards {
    using TokenTransfer for IERC20;

    uint256 public constant SEED = 1e6;

    IERC20 public immutable token;
    address public immutable funder;
    uint256 public held;
    uint256 public totalShares;
    mapping(address => uint256) public sharesOf;

    event Entered(address indexed account, uint256 amount, uint256 shares);
    event Exited(address indexed account, uint256 amount, uint256 shares);
    event Rewarded(uint256 amount);

    constructor(IERC20 token_) {
        token = token_;
        funder = msg.sender;
    }

    /// The first shares belong to the pool itself, so that its worth cannot be set by whoever comes first.
    function enter(uint256 amount) external returns (uint256 shares) {
        if (totalShares == 0) {
            shares = amount - SEED;
            totalShares = SEED;
            sharesOf[address(this)] = SEED;
        } else {
            shares = (amount * totalShares) / held;
        }
        require(shares > 0, "too little");
        held += amount;
        totalShares += shares;
        sharesOf[msg.sender] += shares;
        token.pull(msg.sender, amount);
        emit Entered(msg.sender, amount, shares);
    }

    /// Takes out an amount of tokens, for as many shares as it is worth.
    function exit(uint256 amount) external returns (uint256 shares) {
        shares = (amount * totalShares) / held;
        sharesOf[msg.sender] -= shares;
        totalShares -= shares;
        held -= amount;
        token.push(msg.sender, amount);
        emit Exited(msg.sender, amount, shares);
    }

    function reward(uint256 amount) external {
        require(msg.sender == funder && totalShares > 0, "not now");
        held += amount;
        token.pull(msg.sender, amount);
        emit Rewarded(amount);
    }

    function worthOf(address account) external view returns (uint256) {
        return (sharesOf[account] * held) / totalShares;
    }
}
