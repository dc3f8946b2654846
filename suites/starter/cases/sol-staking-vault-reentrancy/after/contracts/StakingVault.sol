// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

/// Holds stakes in ether; a staker may take out any part, less an exit fee for the treasury.
contract StakingVault {
    uint256 public constant EXIT_FEE_BPS = 50;

    address public immutable owner;
    address public treasury;
    uint256 public totalStaked;
    uint256 public feesHeld;
    mapping(address => uint256) public stakeOf;

    event Staked(address indexed staker, uint256 amount);
    event Withdrawn(address indexed staker, uint256 amount, uint256 fee);
    event FeesSwept(address indexed treasury, uint256 amount);

    constructor(address treasury_) {
        require(treasury_ != address(0), "StakingVault: no treasury");
        owner = msg.sender;
        treasury = treasury_;
    }

    function stake() external payable {
        require(msg.value > 0, "StakingVault: nothing sent");
        stakeOf[msg.sender] += msg.value;
        totalStaked += msg.value;
        emit Staked(msg.sender, msg.value);
    }

    function withdraw(uint256 amount) external {
        uint256 staked = stakeOf[msg.sender];
        require(amount > 0 && amount <= staked, "StakingVault: bad amount");
        uint256 fee = (amount * EXIT_FEE_BPS) / 10_000;
        (bool sent, ) = msg.sender.call{value: amount - fee}("");
        require(sent, "StakingVault: transfer failed");
        stakeOf[msg.sender] = staked - amount;
        totalStaked -= amount;
        feesHeld += fee;
        emit Withdrawn(msg.sender, amount, fee);
    }

    function setTreasury(address treasury_) external {
        require(treasury_ != address(0), "StakingVault: no treasury");
        treasury = treasury_;
    }

    function sweepFees() external {
        uint256 amount = feesHeld;
        feesHeld = 0;
        (bool sent, ) = treasury.call{value: amount}("");
        require(sent, "StakingVault: sweep failed");
        emit FeesSwept(treasury, amount);
    }
}
