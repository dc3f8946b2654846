// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {IERC20} from "./IERC20.sol";
import {TokenTransfer} from "./TokenTransfer.sol";

/// Keeps tokens for a beneficiary until a date. Boxes are clones of one contract, set up by the factory that makes them.
contract LockBox {
    using TokenTransfer for IERC20;

    IERC20 public token;
    address public keeper;
    address public beneficiary;
    uint64 public opensAt;

    event Prepared(address indexed keeper, address indexed beneficiary, uint64 opensAt);
    event KeeperLeft(address indexed keeper);
    event Opened(uint256 amount);

    modifier onlyKeeper() {
        require(msg.sender == keeper, "only the keeper");
        _;
    }

    function prepare(IERC20 token_, address keeper_, address beneficiary_, uint64 opensAt_) external {
        require(keeper == address(0), "already prepared");
        require(keeper_ != address(0) && beneficiary_ != address(0), "bad parties");
        token = token_;
        keeper = keeper_;
        beneficiary = beneficiary_;
        opensAt = opensAt_;
        emit Prepared(keeper_, beneficiary_, opensAt_);
    }

    /// The keeper may shorten the wait.
    function openEarlier(uint64 date) external onlyKeeper {
        require(date < opensAt, "not earlier");
        opensAt = date;
    }

    /// The keeper may leave, after which nothing can be changed any more.
    function leave() external onlyKeeper {
        emit KeeperLeft(keeper);
        keeper = address(0);
    }

    function open() external {
        require(block.timestamp >= opensAt, "too early");
        uint256 amount = token.balanceOf(address(this));
        token.push(beneficiary, amount);
        emit Opened(amount);
    }
}

/// Makes boxes.
contract LockBoxFactory {
    address public immutable original;
    address[] public boxes;

    event Made(address indexed box, address indexed keeper);

    constructor() {
        original = address(new LockBox());
    }

    function make(IERC20 token, address beneficiary, uint64 opensAt) external returns (LockBox box) {
        bytes memory code = abi.encodePacked(
            hex"3d602d80600a3d3981f3363d3d373d3d3d363d73",
            original,
            hex"5af43d82803e903d91602b57fd5bf3"
        );
        address made;
        assembly ("memory-safe") {
            made := create(0, add(code, 0x20), mload(code))
        }
        require(made != address(0), "not made");
        box = LockBox(made);
        box.prepare(token, msg.sender, beneficiary, opensAt);
        boxes.push(made);
        emit Made(made, msg.sender);
    }
}
