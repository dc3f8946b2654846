// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/// The arithmetic of an exchange, kept apart because of the limit on the size of code. It has no storage of its own.
contract PricingEngine {
    uint256 internal baseReserve;
    uint256 internal quoteReserve;

    error TooLittle(uint256 out);

    /// Prices a purchase along the curve and books it.
    function applyBuy(uint256 quoteIn, uint256 atLeast) external returns (uint256 out) {
        uint256 invariant = baseReserve * quoteReserve;
        uint256 nextQuote = quoteReserve + quoteIn;
        uint256 nextBase = (invariant + nextQuote - 1) / nextQuote;
        out = baseReserve - nextBase;
        if (out < atLeast || out == 0) revert TooLittle(out);
        baseReserve = nextBase;
        quoteReserve = nextQuote;
    }
}
