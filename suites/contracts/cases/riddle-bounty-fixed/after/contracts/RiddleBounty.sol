// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/// Bounties for whoever finds a text with a given hash. Solvers first hand in a seal of answer and salt, and open it some
/// blocks later.
contract RiddleBounty {
    uint256 public constant DELAY = 5;

    struct Riddle {
        address author;
        bytes32 answerHash;
        uint256 prize;
        uint64 closesAt;
    }

    Riddle[] public riddles;
    mapping(address => mapping(bytes32 => uint256)) public sealedAt;

    event Posted(uint256 indexed id, address indexed author, uint256 prize);
    event Sealed(bytes32 indexed seal);
    event Solved(uint256 indexed id, address indexed solver);
    event TakenBack(uint256 indexed id);

    function post(bytes32 answerHash, uint64 duration) external payable returns (uint256 id) {
        require(msg.value > 0 && duration >= 1 days, "bad riddle");
        id = riddles.length;
        riddles.push(Riddle(msg.sender, answerHash, msg.value, uint64(block.timestamp) + duration));
        emit Posted(id, msg.sender, msg.value);
    }

    function commit(bytes32 seal) external {
        require(sealedAt[msg.sender][seal] == 0, "already sealed");
        sealedAt[msg.sender][seal] = block.number;
        emit Sealed(seal);
    }

    function sealOf(bytes memory answer, bytes32 salt) public pure returns (bytes32) {
        return keccak256(abi.encode(answer, salt));
    }

    function open(uint256 id, bytes calldata answer, bytes32 salt) external {
        Riddle storage riddle = riddles[id];
        uint256 since = sealedAt[msg.sender][sealOf(answer, salt)];
        require(since != 0 && block.number >= since + DELAY, "not sealed long enough");
        require(keccak256(answer) == riddle.answerHash, "wrong answer");
        uint256 prize = riddle.prize;
        require(prize > 0, "already solved");
        riddle.prize = 0;
        emit Solved(id, msg.sender);
        (bool ok, ) = payable(msg.sender).call{value: prize}("");
        require(ok, "payment refused");
    }

    /// The author takes back the prize of a riddle that nobody solved.
    function takeBack(uint256 id) external {
        Riddle storage riddle = riddles[id];
        require(msg.sender == riddle.author && block.timestamp > riddle.closesAt, "not yet");
        uint256 prize = riddle.prize;
        riddle.prize = 0;
        emit TakenBack(id);
        (bool ok, ) = payable(msg.sender).call{value: prize}("");
        require(ok, "payment refused");
    }
}
