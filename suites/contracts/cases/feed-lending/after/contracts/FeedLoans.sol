// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {IERC20} from "./IERC20.sol";
import {TokenTransfer} from "./TokenTransfer.sol";

interface IFeed {
    function decimals() external view returns (uint8);

    function latestRoundData()
        external
        view
        returns (uint80 round, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredIn);
}

/// Lends a stable currency against ether, which is valued by a feed.
contract FeedLoans {
    using TokenTransfer for IERC20;

    uint256 public constant PERCENT = 66;

    IERC20 public immutable stable;
    IFeed public immutable feed;
    uint256 private immutable scale;
    mapping(address => uint256) public etherOf;
    mapping(address => uint256) public debtOf;

    event Borrowed(address indexed account, uint256 amount);
    event Closed(address indexed account);

    constructor(IERC20 stable_, IFeed feed_) {
        stable = stable_;
        feed = feed_;
        scale = 10 ** feed_.decimals();
    }

    /// Pledges the ether sent along and borrows against everything that is pledged.
    function borrow(uint256 amount) external payable {
        etherOf[msg.sender] += msg.value;
        debtOf[msg.sender] += amount;
        require(debtOf[msg.sender] <= (worth(etherOf[msg.sender]) * PERCENT) / 100, "above the limit");
        stable.push(msg.sender, amount);
        emit Borrowed(msg.sender, amount);
    }

    /// Pays the whole debt and takes the ether back.
    function close() external {
        uint256 debt = debtOf[msg.sender];
        uint256 pledged = etherOf[msg.sender];
        debtOf[msg.sender] = 0;
        etherOf[msg.sender] = 0;
        stable.pull(msg.sender, debt);
        (bool ok, ) = payable(msg.sender).call{value: pledged}("");
        require(ok, "payment refused");
        emit Closed(msg.sender);
    }

    function worth(uint256 amount) public view returns (uint256) {
        (, int256 answer, , , ) = feed.latestRoundData();
        require(answer > 0, "no answer");
        return (amount * uint256(answer)) / scale;
    }
}
