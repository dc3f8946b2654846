// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/// Members save for a term. Whoever leaves early pays a fee to the charity of the club.
contract SavingsClub {
    uint256 public constant EARLY_FEE_PERCENT = 2;
    uint256 public constant TERM = 180 days;

    struct Saver {
        uint256 saved;
        uint64 since;
        address offeredTo;
    }

    address payable public immutable charity;
    mapping(address => Saver) public savers;
    uint256 public totalSaved;
    uint256 public feesDue;
    uint256 private state = 1;

    event Saved(address indexed saver, uint256 amount);
    event TakenOut(address indexed saver, uint256 amount, uint256 fee);
    event Moved(address indexed from, address indexed to, uint256 amount);
    event Donated(uint256 amount);

    modifier alone() {
        require(state == 1, "busy");
        state = 2;
        _;
        state = 1;
    }

    constructor(address payable charity_) {
        require(charity_ != address(0), "charity missing");
        charity = charity_;
    }

    function save() external payable alone {
        require(msg.value > 0, "nothing saved");
        require(savers[msg.sender].saved == 0, "already saving");
        savers[msg.sender] = Saver(msg.value, uint64(block.timestamp), address(0));
        totalSaved += msg.value;
        emit Saved(msg.sender, msg.value);
    }

    /// Takes everything out, but for the fee if the term is not over.
    function takeOut() external alone {
        Saver memory saver = savers[msg.sender];
        require(saver.saved > 0, "nothing saved");
        bool early = block.timestamp < saver.since + TERM;
        uint256 fee = early ? (saver.saved * EARLY_FEE_PERCENT) / 100 : 0;
        uint256 amount = saver.saved - fee;
        (bool ok, ) = payable(msg.sender).call{value: amount}("");
        require(ok, "payment refused");
        delete savers[msg.sender];
        totalSaved -= saver.saved;
        feesDue += fee;
        emit TakenOut(msg.sender, amount, fee);
    }

    /// Sends the fees to the charity.
    function donate() external alone {
        uint256 amount = feesDue;
        feesDue = 0;
        (bool ok, ) = charity.call{value: amount}("");
        require(ok, "payment refused");
        emit Donated(amount);
    }

    /// Offers the savings to another wallet, which takes them over with `accept`.
    function offerTo(address to) external alone {
        require(savers[msg.sender].saved > 0, "nothing saved");
        savers[msg.sender].offeredTo = to;
    }

    function accept(address from) external alone {
        Saver memory saver = savers[from];
        require(saver.offeredTo == msg.sender && savers[msg.sender].saved == 0, "cannot move");
        delete savers[from];
        savers[msg.sender] = Saver(saver.saved, saver.since, address(0));
        emit Moved(from, msg.sender, saver.saved);
    }
}
