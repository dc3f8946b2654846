// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

/// Holds stakes in ether; a staker leaves with the whole stake or not at all.
contract StakingVault {
    address public immutable owner;
    uint256 public totalStaked;
    mapping(address => uint256) public stakeOf;

    event Staked(address indexed staker, uint256 amount);
    event Withdrawn(address indexed staker, uint256 amount);

    constructor() {
        owner = msg.sender;
    }

    function stake() external payable {
        require(msg.value > 0, "StakingVault: nothing sent");
        stakeOf[msg.sender] += msg.value;
        totalStaked += msg.value;
        emit Staked(msg.sender, msg.value);
    }

    function withdrawAll() external {
        uint256 amount = stakeOf[msg.sender];
        require(amount > 0, "StakingVault: no stake");
        stakeOf[msg.sender] = 0;
        totalStaked -= amount;
        (bool sent, ) = msg.sender.call{value: amount}("");
        require(sent, "StakingVault: transfer failed");
        emit Withdrawn(msg.sender, amount);
    }
}
