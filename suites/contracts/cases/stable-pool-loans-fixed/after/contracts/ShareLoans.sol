// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {StablePool} from "./StablePool.sol";

/// Lends ether against shares of the pool, up to three quarters of their worth.
contract ShareLoans {
    uint256 public constant MAX_PERCENT = 75;

    StablePool public immutable pool;
    mapping(address => uint256) public pledged;
    mapping(address => uint256) public debtOf;

    constructor(StablePool pool_) payable {
        pool = pool_;
    }

    receive() external payable {}

    function pledge(uint256 shares) external {
        pledged[msg.sender] += shares;
        pool.transferFrom(msg.sender, address(this), shares);
    }

    function borrow(uint256 amount) external {
        debtOf[msg.sender] += amount;
        require(debtOf[msg.sender] <= limitOf(msg.sender), "above the limit");
        (bool ok, ) = payable(msg.sender).call{value: amount}("");
        require(ok, "payment refused");
    }

    function repay() external payable {
        debtOf[msg.sender] -= msg.value;
    }

    function release(uint256 shares) external {
        pledged[msg.sender] -= shares;
        require(debtOf[msg.sender] <= limitOf(msg.sender), "still needed");
        pool.transfer(msg.sender, shares);
    }

    function limitOf(address account) public view returns (uint256) {
        return (pledged[account] * pool.sharePrice() * MAX_PERCENT) / 100 / 1e18;
    }
}
