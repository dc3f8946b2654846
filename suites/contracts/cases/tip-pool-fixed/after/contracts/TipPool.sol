// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/// A pot for tips of a collective. Members hold weight, which they buy once; tips are split by weight. A member can be
/// entered by somebody else, as a present.
contract TipPool {
    mapping(address => uint256) public weightOf;
    mapping(address => uint256) public dueTo;
    mapping(address => uint256) private countedFrom;
    uint256 private perWeight;
    uint256 public totalWeight;
    uint256 public joinFees;
    address public immutable treasurer;

    event Joined(address indexed member, uint256 weight);
    event Tipped(address indexed from, uint256 amount);
    event Taken(address indexed member, uint256 amount);

    constructor() {
        treasurer = msg.sender;
    }

    /// Buys weight for a member: one for each wei.
    function join(address member) external payable {
        require(member != address(0) && msg.value > 0, "bad entry");
        count(member);
        weightOf[member] += msg.value;
        totalWeight += msg.value;
        joinFees += msg.value;
        emit Joined(member, msg.value);
    }

    function tip() external payable {
        require(totalWeight > 0, "no members");
        perWeight += (msg.value * 1e18) / totalWeight;
        emit Tipped(msg.sender, msg.value);
    }

    function count(address member) private {
        dueTo[member] += (weightOf[member] * (perWeight - countedFrom[member])) / 1e18;
        countedFrom[member] = perWeight;
    }

    function take() external {
        count(msg.sender);
        uint256 amount = dueTo[msg.sender];
        require(amount > 0, "nothing due");
        dueTo[msg.sender] = 0;
        emit Taken(msg.sender, amount);
        (bool ok, ) = payable(msg.sender).call{value: amount}("");
        require(ok, "payment refused");
    }

    function collectFees() external {
        require(msg.sender == treasurer, "only the treasurer");
        uint256 amount = joinFees;
        joinFees = 0;
        (bool ok, ) = payable(treasurer).call{value: amount}("");
        require(ok, "payment refused");
    }
}
