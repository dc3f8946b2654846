// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/// A draw among players who each hand in a sealed number and later open it. The sum of all numbers picks the winner; stake and
/// bond of whoever does not open are burnt. The bond is as large as the largest pot.
contract CommitDraw {
    uint256 public constant STAKE = 0.1 ether;
    uint256 public constant MAX_PLAYERS = 12;
    uint256 public constant BOND = STAKE * MAX_PLAYERS;

    enum Phase {
        Joining,
        Opening,
        Done
    }

    uint64 public immutable joinUntil;
    uint64 public immutable openUntil;
    address[] public players;
    mapping(address => bytes32) public sealOf;
    mapping(address => bool) public hasOpened;
    uint256 public opened;
    uint256 private sum;
    bool public paid;
    mapping(address => uint256) public dueTo;

    event Joined(address indexed player);
    event Opened(address indexed player);
    event Won(address indexed player, uint256 prize);

    constructor(uint64 joinTime, uint64 openTime) {
        require(joinTime >= 1 hours && openTime >= 1 hours, "too short");
        joinUntil = uint64(block.timestamp) + joinTime;
        openUntil = joinUntil + openTime;
    }

    function phase() public view returns (Phase) {
        if (block.timestamp < joinUntil) return Phase.Joining;
        return block.timestamp < openUntil && opened < players.length ? Phase.Opening : Phase.Done;
    }

    function join(bytes32 seal) external payable {
        require(phase() == Phase.Joining && players.length < MAX_PLAYERS, "cannot join");
        require(msg.value == STAKE + BOND && seal != 0 && sealOf[msg.sender] == 0, "bad entry");
        sealOf[msg.sender] = seal;
        players.push(msg.sender);
        emit Joined(msg.sender);
    }

    /// Opens a seal, which is the hash of the player, the number and a salt.
    function open(uint256 number, bytes32 salt) external {
        require(phase() == Phase.Opening && !hasOpened[msg.sender], "cannot open");
        require(keccak256(abi.encode(msg.sender, number, salt)) == sealOf[msg.sender], "another seal");
        hasOpened[msg.sender] = true;
        opened += 1;
        dueTo[msg.sender] += BOND;
        unchecked {
            sum += number;
        }
        emit Opened(msg.sender);
    }

    /// Finds the winner. If anybody kept a seal closed, nobody wins: all who opened get their stakes back, and what the others
    /// paid is burnt. If nobody opened at all, everything is paid back.
    function finish() external {
        require(phase() == Phase.Done && !paid, "cannot finish");
        paid = true;
        if (opened == players.length && opened > 0) {
            uint256 pot = players.length * STAKE;
            address winner = players[sum % players.length];
            dueTo[winner] += pot;
            emit Won(winner, pot);
            return;
        }
        for (uint256 i = 0; i < players.length; i++) {
            if (opened == 0) dueTo[players[i]] = STAKE + BOND;
            else if (hasOpened[players[i]]) dueTo[players[i]] += STAKE;
        }
    }

    function take() external {
        uint256 amount = dueTo[msg.sender];
        require(amount > 0, "nothing due");
        dueTo[msg.sender] = 0;
        (bool ok, ) = payable(msg.sender).call{value: amount}("");
        require(ok, "payment refused");
    }
}
