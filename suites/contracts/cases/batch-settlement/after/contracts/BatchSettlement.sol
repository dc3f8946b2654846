// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

interface ISettlementListener {
    function settled(uint256 batch, uint256 amount) external;
}

/// Settles sales of a market with its sellers, in batches. A payment that fails is kept for the seller to fetch.
contract BatchSettlement {
    uint256 public constant MAX_BATCH = 40;
    uint256 private constant PAYMENT_GAS = 50_000;
    uint256 private constant LISTENER_GAS = 30_000;

    struct Payment {
        address seller;
        uint256 amount;
    }

    address public immutable market;
    uint256 public batches;
    mapping(address => uint256) public keptFor;
    mapping(address => address) public listenerOf;

    event Settled(uint256 indexed batch, address indexed seller, uint256 amount);
    event Kept(uint256 indexed batch, address indexed seller, uint256 amount);

    constructor(address market_) {
        require(market_ != address(0), "market missing");
        market = market_;
    }

    function setListener(address listener) external {
        listenerOf[msg.sender] = listener;
    }

    function settle(Payment[] calldata payments) external payable {
        require(msg.sender == market, "only the market");
        require(payments.length <= MAX_BATCH, "too many");
        uint256 batch = batches++;
        uint256 left = msg.value;
        for (uint256 i = 0; i < payments.length; i++) {
            (address seller, uint256 amount) = (payments[i].seller, payments[i].amount);
            left -= amount;
            bool ok;
            assembly ("memory-safe") {
                ok := call(PAYMENT_GAS, seller, amount, 0, 0, 0, 0)
            }
            if (ok) {
                emit Settled(batch, seller, amount);
            } else {
                keptFor[seller] += amount;
                emit Kept(batch, seller, amount);
            }
            tell(seller, batch, amount);
        }
        require(left == 0, "sum differs");
    }

    function fetch(address to) external {
        uint256 amount = keptFor[msg.sender];
        require(amount > 0, "nothing kept");
        keptFor[msg.sender] = 0;
        (bool ok, ) = payable(to).call{value: amount}("");
        require(ok, "payment refused");
    }

    /// Tells a seller's listener, who may fail: that is nobody else's trouble.
    function tell(address seller, uint256 batch, uint256 amount) private {
        address listener = listenerOf[seller];
        if (listener == address(0)) return;
        bytes memory data = abi.encodeCall(ISettlementListener.settled, (batch, amount));
        assembly ("memory-safe") {
            pop(call(LISTENER_GAS, listener, 0, add(data, 32), mload(data), 0, 0))
        }
    }
}
