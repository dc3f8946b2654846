// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/// A safe of several owners. What the safe does, changes of its owners included, needs the confirmation of enough of them.
contract SharedSafe {
    struct Proposal {
        address to;
        uint256 value;
        bytes data;
        uint256 confirmations;
        bool executed;
    }

    address[] public owners;
    uint256 public threshold;
    mapping(address => bool) public isOwner;
    Proposal[] public proposals;
    mapping(uint256 => mapping(address => bool)) public confirmedBy;

    event Proposed(uint256 indexed id, address indexed by);
    event Confirmed(uint256 indexed id, address indexed by);
    event Executed(uint256 indexed id);

    modifier onlyOwner() {
        require(isOwner[msg.sender], "not an owner");
        _;
    }

    modifier onlySafe() {
        require(msg.sender == address(this), "only by proposal");
        _;
    }

    constructor(address[] memory owners_, uint256 threshold_) payable {
        require(threshold_ > 0 && threshold_ <= owners_.length, "bad threshold");
        for (uint256 i = 0; i < owners_.length; i++) {
            require(owners_[i] != address(0) && !isOwner[owners_[i]], "bad owner");
            isOwner[owners_[i]] = true;
            owners.push(owners_[i]);
        }
        threshold = threshold_;
    }

    receive() external payable {}

    function propose(address to, uint256 value, bytes calldata data) external onlyOwner returns (uint256 id) {
        id = proposals.length;
        proposals.push(Proposal(to, value, data, 0, false));
        emit Proposed(id, msg.sender);
    }

    function confirm(uint256 id) external onlyOwner {
        require(id < proposals.length && !confirmedBy[id][msg.sender], "cannot confirm");
        confirmedBy[id][msg.sender] = true;
        proposals[id].confirmations += 1;
        emit Confirmed(id, msg.sender);
    }

    function execute(uint256 id) external onlyOwner {
        Proposal storage proposal = proposals[id];
        require(!proposal.executed, "already executed");
        require(proposal.confirmations >= threshold, "not enough confirmations");
        proposal.executed = true;
        (bool ok, ) = proposal.to.call{value: proposal.value}(proposal.data);
        require(ok, "execution failed");
        emit Executed(id);
    }

    function replaceOwner(address old, address next) external onlySafe {
        require(isOwner[old] && next != address(0) && !isOwner[next], "bad owner");
        isOwner[old] = false;
        isOwner[next] = true;
        for (uint256 i = 0; i < owners.length; i++) {
            if (owners[i] == old) owners[i] = next;
        }
    }
}
