// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

interface IVotes {
    function balanceOf(address account) external view returns (uint256);

    function totalSupply() external view returns (uint256);
}

/// Holders of a token decide about the money of a council. A motion passes with more yes than no, and a tenth of the supply.
contract TokenCouncil {
    uint256 public constant VOTING_BLOCKS = 7200;

    struct Motion {
        address payable to;
        uint256 amount;
        uint256 startBlock;
        uint256 yes;
        uint256 no;
        bool done;
    }

    IVotes public immutable token;
    Motion[] public motions;
    mapping(uint256 => mapping(address => bool)) public hasVoted;

    event Moved(uint256 indexed id, address indexed by, address to, uint256 amount);
    event Voted(uint256 indexed id, address indexed voter, bool inFavour, uint256 weight);
    event Done(uint256 indexed id);

    constructor(IVotes token_) payable {
        token = token_;
    }

    receive() external payable {}

    function move(address payable to, uint256 amount) external returns (uint256 id) {
        require(token.balanceOf(msg.sender) > 0, "not a holder");
        id = motions.length;
        motions.push(Motion(to, amount, block.number, 0, 0, false));
        emit Moved(id, msg.sender, to, amount);
    }

    function vote(uint256 id, bool inFavour) external {
        Motion storage motion = motions[id];
        require(block.number > motion.startBlock && block.number <= motion.startBlock + VOTING_BLOCKS, "not open");
        require(!hasVoted[id][msg.sender], "already voted");
        hasVoted[id][msg.sender] = true;
        uint256 weight = token.balanceOf(msg.sender);
        if (inFavour) motion.yes += weight;
        else motion.no += weight;
        emit Voted(id, msg.sender, inFavour, weight);
    }

    function carryOut(uint256 id) external {
        Motion storage motion = motions[id];
        require(!motion.done && block.number > motion.startBlock + VOTING_BLOCKS, "cannot carry out");
        require(motion.yes > motion.no && motion.yes * 10 >= token.totalSupply(), "not passed");
        motion.done = true;
        (bool ok, ) = motion.to.call{value: motion.amount}("");
        require(ok, "payment refused");
        emit Done(id);
    }
}
