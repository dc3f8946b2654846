// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {IERC20} from "./IERC20.sol";

/// Sells units of a new token for any of the listed currencies, at a fixed rate for each of them. Buyers take their units
/// when the round has ended.
contract RoundSale {
    address public immutable issuer;
    IERC20 public immutable unit;
    uint64 public immutable endsAt;
    uint256 public unitsLeft;
    mapping(IERC20 => uint256) public rateOf;
    mapping(address => uint256) public unitsOf;

    event Listed(IERC20 indexed currency, uint256 rate);
    event Bought(address indexed buyer, IERC20 indexed currency, uint256 paid, uint256 units);
    event Taken(address indexed buyer, uint256 units);

    constructor(IERC20 unit_, uint64 endsAt_, uint256 units) {
        issuer = msg.sender;
        unit = unit_;
        endsAt = endsAt_;
        unitsLeft = units;
    }

    /// Accepts a currency: so many units for 1e18 of it.
    function list(IERC20 currency, uint256 rate) external {
        require(msg.sender == issuer, "only the issuer");
        rateOf[currency] = rate;
        emit Listed(currency, rate);
    }

    function buy(IERC20 currency, uint256 paid) external {
        require(block.timestamp < endsAt, "round over");
        uint256 units = (paid * rateOf[currency]) / 1e18;
        require(units > 0 && units <= unitsLeft, "cannot sell that");
        unitsLeft -= units;
        unitsOf[msg.sender] += units;
        require(currency.transferFrom(msg.sender, issuer, paid), "payment failed");
        emit Bought(msg.sender, currency, paid, units);
    }

    function take() external {
        require(block.timestamp >= endsAt, "round still open");
        uint256 units = unitsOf[msg.sender];
        require(units > 0, "nothing bought");
        unitsOf[msg.sender] = 0;
        require(unit.transfer(msg.sender, units), "transfer failed");
        emit Taken(msg.sender, units);
    }

    function takeUnsold() external {
        require(msg.sender == issuer && block.timestamp >= endsAt, "not yet");
        uint256 rest = unitsLeft;
        unitsLeft = 0;
        require(unit.transfer(issuer, rest), "transfer failed");
    }
}
