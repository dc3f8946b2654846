// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {IERC20} from "./IERC20.sol";
import {PricingEngine} from "./PricingEngine.sol";
import {TokenTransfer} from "./TokenTransfer.sol";

/// Sells a base token along a curve. The arithmetic is that of an engine which is made together with the exchange.
contract CurveExchange {
    using TokenTransfer for IERC20;

    uint256 internal baseReserve;
    uint256 internal quoteReserve;

    IERC20 public immutable base;
    IERC20 public immutable quote;
    address public immutable engine;
    address public immutable seller;

    event Opened(uint256 baseReserve, uint256 quoteReserve);
    event Bought(address indexed buyer, uint256 quoteIn, uint256 baseOut);
    event Closed(uint256 baseOut, uint256 quoteOut);

    constructor(IERC20 base_, IERC20 quote_) {
        require(address(base_) != address(quote_), "same token");
        base = base_;
        quote = quote_;
        engine = address(new PricingEngine());
        seller = msg.sender;
    }

    /// Opens the curve. The seller provides both sides.
    function open(uint256 baseIn, uint256 quoteIn) external {
        require(msg.sender == seller && baseReserve == 0, "cannot open");
        require(baseIn > 0 && quoteIn > 0, "empty side");
        baseReserve = baseIn;
        quoteReserve = quoteIn;
        base.pull(msg.sender, baseIn);
        quote.pull(msg.sender, quoteIn);
        emit Opened(baseIn, quoteIn);
    }

    function buy(uint256 quoteIn, uint256 atLeast, uint256 deadline) external returns (uint256 out) {
        require(block.timestamp <= deadline && baseReserve > 0, "cannot buy");
        bytes memory data = abi.encodeCall(PricingEngine.applyBuy, (quoteIn, atLeast));
        (bool ok, bytes memory result) = engine.delegatecall(data);
        require(ok, "not at that price");
        out = abi.decode(result, (uint256));
        quote.pull(msg.sender, quoteIn);
        base.push(msg.sender, out);
        emit Bought(msg.sender, quoteIn, out);
    }

    function close() external {
        require(msg.sender == seller, "only the seller");
        (uint256 baseOut, uint256 quoteOut) = (baseReserve, quoteReserve);
        (baseReserve, quoteReserve) = (0, 0);
        base.push(seller, baseOut);
        quote.push(seller, quoteOut);
        emit Closed(baseOut, quoteOut);
    }
}
