// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/// Members save together. Whoever leaves early pays a fee, which the others share.
contract SavingsClub {
    uint256 public constant EARLY_FEE_PERCENT = 2;
    uint256 public constant TERM = 180 days;

    struct Saver {
        uint256 saved;
        uint256 feesFrom;
        uint64 since;
    }

    mapping(address => Saver) public savers;
    uint256 public totalSaved;
    uint256 public feesPerEther;
    uint256 private state = 1;

    event Saved(address indexed saver, uint256 amount);
    event TakenOut(address indexed saver, uint256 amount, uint256 fee);
    event Moved(address indexed from, address indexed to, uint256 amount);

    modifier alone() {
        require(state == 1, "busy");
        state = 2;
        _;
        state = 1;
    }

    function save() external payable alone {
        require(msg.value > 0, "nothing saved");
        Saver storage saver = savers[msg.sender];
        require(saver.saved == 0, "already saving");
        savers[msg.sender] = Saver(msg.value, feesPerEther, uint64(block.timestamp));
        totalSaved += msg.value;
        emit Saved(msg.sender, msg.value);
    }

    /// Takes everything out, with the saver's part of the fees of others.
    function takeOut() external alone {
        Saver memory saver = savers[msg.sender];
        require(saver.saved > 0, "nothing saved");
        bool early = block.timestamp < saver.since + TERM && totalSaved > saver.saved;
        uint256 fee = early ? (saver.saved * EARLY_FEE_PERCENT) / 100 : 0;
        uint256 amount = worthOf(msg.sender) - fee;
        (bool ok, ) = payable(msg.sender).call{value: amount}("");
        require(ok, "payment refused");
        delete savers[msg.sender];
        totalSaved -= saver.saved;
        if (fee > 0) feesPerEther += (fee * 1e18) / totalSaved;
        emit TakenOut(msg.sender, amount, fee);
    }

    /// Moves the savings to another wallet.
    function moveTo(address to) external alone {
        require(to != address(0) && savers[to].saved == 0, "cannot move");
        Saver memory saver = savers[msg.sender];
        require(saver.saved > 0, "nothing saved");
        delete savers[msg.sender];
        savers[to] = saver;
        emit Moved(msg.sender, to, saver.saved);
    }

    function worthOf(address account) public view returns (uint256) {
        Saver memory saver = savers[account];
        return saver.saved + (saver.saved * (feesPerEther - saver.feesFrom)) / 1e18;
    }
}
