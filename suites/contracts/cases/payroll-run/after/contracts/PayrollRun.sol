// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/// Pays contractors in ether. The office books hours; once a month somebody starts the run, which pays everybody.
contract PayrollRun {
    uint256 public constant MAX_STAFF = 50;

    address public immutable office;
    address[] public staff;
    mapping(address => uint256) public rateOf;
    mapping(address => uint256) public owedTo;
    uint256 public totalOwed;

    event Hired(address indexed person, uint256 rate);
    event Booked(address indexed person, uint256 hoursWorked, uint256 amount);
    event Paid(address indexed person, uint256 amount);

    modifier onlyOffice() {
        require(msg.sender == office, "only the office");
        _;
    }

    constructor() payable {
        office = msg.sender;
    }

    receive() external payable {}

    function hire(address person, uint256 rate) external onlyOffice {
        require(person != address(0) && rate > 0 && rateOf[person] == 0, "bad contract");
        require(staff.length < MAX_STAFF, "too many");
        staff.push(person);
        rateOf[person] = rate;
        emit Hired(person, rate);
    }

    function book(address person, uint256 hoursWorked) external onlyOffice {
        uint256 amount = rateOf[person] * hoursWorked;
        require(amount > 0, "unknown person");
        owedTo[person] += amount;
        totalOwed += amount;
        emit Booked(person, hoursWorked, amount);
    }

    /// Pays everybody what is owed.
    function run() external {
        for (uint256 i = 0; i < staff.length; i++) {
            address person = staff[i];
            uint256 amount = owedTo[person];
            if (amount == 0) continue;
            owedTo[person] = 0;
            totalOwed -= amount;
            payable(person).send(amount);
            emit Paid(person, amount);
        }
    }

    /// Takes back what nobody is owed.
    function takeRest() external onlyOffice {
        uint256 rest = address(this).balance - totalOwed;
        (bool ok, ) = payable(office).call{value: rest}("");
        require(ok, "payment refused");
    }

    /// For whoever does not want to wait for the run.
    function fetch() external {
        uint256 amount = owedTo[msg.sender];
        require(amount > 0, "nothing owed");
        owedTo[msg.sender] = 0;
        totalOwed -= amount;
        emit Paid(msg.sender, amount);
        (bool ok, ) = payable(msg.sender).call{value: amount}("");
        require(ok, "payment refused");
    }
}
