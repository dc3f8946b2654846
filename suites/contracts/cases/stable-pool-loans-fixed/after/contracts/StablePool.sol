// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {IERC20} from "./IERC20.sol";
import {TokenTransfer} from "./TokenTransfer.sol";

/// A pool of ether and a staked-ether token that trade at par. Shares of the pool can be transferred.
contract StablePool {
    using TokenTransfer for IERC20;

    IERC20 public immutable token;
    uint256 public etherReserve;
    uint256 public tokenReserve;
    uint256 public totalShares;
    mapping(address => uint256) public sharesOf;
    mapping(address => mapping(address => uint256)) public allowance;
    uint256 private state = 1;

    event Added(address indexed provider, uint256 shares);
    event Removed(address indexed provider, uint256 shares);

    modifier locked() {
        require(state == 1, "busy");
        state = 2;
        _;
        state = 1;
    }

    constructor(IERC20 token_) {
        token = token_;
    }

    /// Adds ether and the same amount of tokens.
    function add() external payable locked returns (uint256 shares) {
        require(msg.value > 0, "nothing added");
        uint256 total = etherReserve + tokenReserve;
        shares = totalShares == 0 ? msg.value * 2 : (msg.value * 2 * totalShares) / total;
        etherReserve += msg.value;
        tokenReserve += msg.value;
        totalShares += shares;
        sharesOf[msg.sender] += shares;
        token.pull(msg.sender, msg.value);
        emit Added(msg.sender, shares);
    }

    /// Gives shares back for their part of both reserves.
    function remove(uint256 shares) external locked {
        uint256 etherOut = (etherReserve * shares) / totalShares;
        uint256 tokenOut = (tokenReserve * shares) / totalShares;
        sharesOf[msg.sender] -= shares;
        totalShares -= shares;
        etherReserve -= etherOut;
        tokenReserve -= tokenOut;
        (bool ok, ) = payable(msg.sender).call{value: etherOut}("");
        require(ok, "payment refused");
        token.push(msg.sender, tokenOut);
        emit Removed(msg.sender, shares);
    }

    /// What one share is worth in ether, with 18 decimals.
    function sharePrice() external view returns (uint256) {
        return totalShares == 0 ? 1e18 : ((etherReserve + tokenReserve) * 1e18) / totalShares;
    }

    function approve(address spender, uint256 shares) external {
        allowance[msg.sender][spender] = shares;
    }

    function transfer(address to, uint256 shares) external {
        sharesOf[msg.sender] -= shares;
        sharesOf[to] += shares;
    }

    function transferFrom(address from, address to, uint256 shares) external {
        allowance[from][msg.sender] -= shares;
        sharesOf[from] -= shares;
        sharesOf[to] += shares;
    }
}
