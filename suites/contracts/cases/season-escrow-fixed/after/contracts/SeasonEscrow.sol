// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/// Holds what members pay for a season of a community farm. The farm draws the money month by month; a member who leaves
/// gets back the months that were not drawn yet.
contract SeasonEscrow {
    uint256 public constant MONTHS = 8;

    struct Member {
        uint256 monthly;
        uint256 joinedAt;
        bool active;
    }

    address public immutable farm;
    uint256 public monthsDrawn;
    uint256 public lastDraw;
    uint256 public monthlyTotal;
    mapping(address => Member) public members;

    event Joined(address indexed member, uint256 monthly);
    event Left(address indexed member, uint256 refund);
    event Drawn(uint256 month, uint256 amount);

    constructor(address farm_) {
        require(farm_ != address(0), "farm missing");
        farm = farm_;
        lastDraw = block.timestamp;
    }

    /// Joins for the rest of the season. What is paid is spread evenly over the months that are left.
    function join() external payable {
        require(monthsDrawn < MONTHS, "season over");
        require(!members[msg.sender].active, "already a member");
        uint256 monthly = msg.value / (MONTHS - monthsDrawn);
        require(monthly > 0, "nothing paid");
        members[msg.sender] = Member({monthly: monthly, joinedAt: monthsDrawn, active: true});
        monthlyTotal += monthly;
        emit Joined(msg.sender, monthly);
    }

    /// Leaves the season and takes back what was paid for the months to come.
    function leave() external {
        Member memory member = members[msg.sender];
        require(member.active, "not a member");
        uint256 refund = member.monthly * (MONTHS - monthsDrawn);
        monthlyTotal = monthlyTotal > member.monthly ? monthlyTotal - member.monthly : 0;
        delete members[msg.sender];
        emit Left(msg.sender, refund);
        if (refund > 0) {
            (bool ok, ) = payable(msg.sender).call{value: refund}("");
            require(ok, "refund refused");
        }
    }

    /// Pays the next month to the farm, thirty days after the last one.
    function draw() external {
        require(msg.sender == farm, "only the farm");
        require(monthsDrawn < MONTHS, "season over");
        require(block.timestamp >= lastDraw + 30 days, "month not over");
        lastDraw = block.timestamp;
        monthsDrawn += 1;
        uint256 amount = monthlyTotal;
        emit Drawn(monthsDrawn, amount);
        (bool ok, ) = payable(farm).call{value: amount}("");
        require(ok, "payment refused");
    }

    /// What a member would get back now.
    function refundOf(address account) external view returns (uint256) {
        Member memory member = members[account];
        return member.active ? member.monthly * (MONTHS - monthsDrawn) : 0;
    }
}
