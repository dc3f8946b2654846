// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {IERC20} from "./IERC20.sol";
import {TokenTransfer} from "./TokenTransfer.sol";

/// Auctions one lot after another for a token. A bid has to be five percent above the one before it.
contract EnglishAuction {
    using TokenTransfer for IERC20;

    struct Lot {
        address seller;
        address bidder;
        uint96 bid;
        uint64 endsAt;
        bool settled;
    }

    uint256 public constant MIN_BID = 1000;

    IERC20 public immutable currency;
    Lot[] public lots;
    mapping(address => uint256) public refundOf;

    event Opened(uint256 indexed lot, address indexed seller, uint64 endsAt);
    event Bid(uint256 indexed lot, address indexed bidder, uint256 amount);
    event Settled(uint256 indexed lot, address indexed winner, uint256 amount);

    constructor(IERC20 currency_) {
        currency = currency_;
    }

    function open(uint64 duration) external returns (uint256 lot) {
        require(duration >= 1 hours && duration <= 30 days, "bad duration");
        lot = lots.length;
        lots.push(Lot(msg.sender, address(0), 0, uint64(block.timestamp) + duration, false));
        emit Opened(lot, msg.sender, uint64(block.timestamp) + duration);
    }

    function bid(uint256 id, uint256 amount) external {
        Lot storage lot = lots[id];
        require(block.timestamp < lot.endsAt, "over");
        require(amount >= MIN_BID && amount >= uint256(lot.bid) + uint256(lot.bid) / 20, "too low");
        currency.pull(msg.sender, uint96(amount));
        if (lot.bidder != address(0)) refundOf[lot.bidder] += lot.bid;
        lot.bidder = msg.sender;
        lot.bid = uint96(amount);
        emit Bid(id, msg.sender, amount);
    }

    function takeRefund() external {
        uint256 amount = refundOf[msg.sender];
        require(amount > 0, "nothing to refund");
        refundOf[msg.sender] = 0;
        currency.push(msg.sender, amount);
    }

    function settle(uint256 id) external {
        Lot storage lot = lots[id];
        require(block.timestamp >= lot.endsAt && !lot.settled, "cannot settle");
        lot.settled = true;
        emit Settled(id, lot.bidder, lot.bid);
        if (lot.bid > 0) currency.push(lot.seller, lot.bid);
    }
}
