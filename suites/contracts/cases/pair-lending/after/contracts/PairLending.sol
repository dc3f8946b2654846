// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {IERC20} from "./IERC20.sol";
import {TokenTransfer} from "./TokenTransfer.sol";

interface IPair {
    function reserves() external view returns (uint256 ofAsset, uint256 ofCash);
}

/// Lends cash against an asset that trades with it on a pair, up to half of the asset's worth.
contract PairLending {
    using TokenTransfer for IERC20;

    IERC20 public immutable asset;
    IERC20 public immutable cash;
    IPair public immutable pair;
    mapping(address => uint256) public pledgeOf;
    mapping(address => uint256) public debtOf;

    event Borrowed(address indexed account, uint256 amount);
    event Repaid(address indexed account, uint256 amount);
    event Liquidated(address indexed account, address indexed by, uint256 debt);

    constructor(IERC20 asset_, IERC20 cash_, IPair pair_) {
        asset = asset_;
        cash = cash_;
        pair = pair_;
    }

    function pledge(uint256 amount) external {
        pledgeOf[msg.sender] += amount;
        asset.pull(msg.sender, amount);
    }

    function release(uint256 amount) external {
        pledgeOf[msg.sender] -= amount;
        require(debtOf[msg.sender] <= limitOf(msg.sender), "still needed");
        asset.push(msg.sender, amount);
    }

    function borrow(uint256 amount) external {
        debtOf[msg.sender] += amount;
        require(debtOf[msg.sender] <= limitOf(msg.sender), "above the limit");
        cash.push(msg.sender, amount);
        emit Borrowed(msg.sender, amount);
    }

    function repay(uint256 amount) external {
        debtOf[msg.sender] -= amount;
        cash.pull(msg.sender, amount);
        emit Repaid(msg.sender, amount);
    }

    /// Pays the debt of somebody whose pledge is no longer worth it, for the pledge.
    function liquidate(address account) external {
        uint256 debt = debtOf[account];
        uint256 pledged = pledgeOf[account];
        require(debt * 10 > (pledged * rate() * 8) / 1e18, "still sound");
        debtOf[account] = 0;
        pledgeOf[account] = 0;
        cash.pull(msg.sender, debt);
        asset.push(msg.sender, pledged);
        emit Liquidated(account, msg.sender, debt);
    }

    /// What one unit of the asset is worth in cash, with 18 decimals.
    function rate() public view returns (uint256) {
        (uint256 ofAsset, uint256 ofCash) = pair.reserves();
        return (ofCash * 1e18) / ofAsset;
    }

    function limitOf(address account) public view returns (uint256) {
        return (pledgeOf[account] * rate()) / 2e18;
    }
}
