// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/// Collects ether for a project. If the goal is reached by the deadline the project is paid; if not, backers are.
contract CrowdFund {
    struct Project {
        address owner;
        uint256 goal;
        uint256 raised;
        uint64 deadline;
        bool paid;
    }

    Project[] public projects;
    mapping(uint256 => mapping(address => uint256)) public givenBy;

    event Started(uint256 indexed id, address indexed owner, uint256 goal, uint64 deadline);
    event Backed(uint256 indexed id, address indexed backer, uint256 amount);
    event Paid(uint256 indexed id, uint256 amount);
    event Returned(uint256 indexed id, address indexed backer, uint256 amount);

    function start(uint256 goal, uint64 duration) external returns (uint256 id) {
        require(goal > 0 && duration >= 1 days && duration <= 90 days, "bad project");
        id = projects.length;
        uint64 deadline = uint64(block.timestamp) + duration;
        projects.push(Project(msg.sender, goal, 0, deadline, false));
        emit Started(id, msg.sender, goal, deadline);
    }

    function back(uint256 id) external payable {
        Project storage project = projects[id];
        require(block.timestamp <= project.deadline && msg.value > 0, "cannot back");
        project.raised += msg.value;
        givenBy[id][msg.sender] += msg.value;
        emit Backed(id, msg.sender, msg.value);
    }

    /// Pays the project once its deadline is reached.
    function pay(uint256 id) external {
        Project storage project = projects[id];
        require(block.timestamp > project.deadline && !project.paid, "cannot pay");
        require(project.raised >= project.goal, "goal not reached");
        project.paid = true;
        emit Paid(id, project.raised);
        (bool ok, ) = payable(project.owner).call{value: project.raised}("");
        require(ok, "payment refused");
    }

    /// Backers may change their mind until the deadline, and are paid back after it if the goal was missed.
    function takeBack(uint256 id) external {
        Project storage project = projects[id];
        bool open = block.timestamp <= project.deadline;
        require(open || project.raised < project.goal, "goal reached");
        uint256 amount = givenBy[id][msg.sender];
        require(amount > 0, "nothing given");
        givenBy[id][msg.sender] = 0;
        project.raised -= amount;
        emit Returned(id, msg.sender, amount);
        (bool ok, ) = payable(msg.sender).call{value: amount}("");
        require(ok, "payment refused");
    }
}
