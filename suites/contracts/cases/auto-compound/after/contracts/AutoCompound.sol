// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {IERC20} from "./IERC20.sol";
import {TokenTransfer} from "./TokenTransfer.sol";

interface ISwap {
    function swap(IERC20 from, IERC20 to, uint256 amountIn, uint256 atLeast, address receiver) external returns (uint256);
}

interface IQuote {
    /// What an amount of one token is worth in another, averaged over a day.
    function worth(IERC20 from, IERC20 to, uint256 amount) external view returns (uint256);
}

/// Holds a stake for its members and turns the rewards that arrive in another token into more stake.
contract AutoCompound {
    using TokenTransfer for IERC20;

    uint256 public constant SEED = 1e6;

    IERC20 public immutable stake;
    IERC20 public immutable reward;
    ISwap public immutable swapper;
    IQuote public immutable quotes;
    uint256 public held;
    uint256 public totalParts;
    mapping(address => uint256) public partsOf;

    event Entered(address indexed member, uint256 amount, uint256 parts);
    event Left(address indexed member, uint256 amount, uint256 parts);
    event Compounded(uint256 sold, uint256 bought);

    constructor(IERC20 stake_, IERC20 reward_, ISwap swapper_, IQuote quotes_) {
        stake = stake_;
        reward = reward_;
        swapper = swapper_;
        quotes = quotes_;
    }

    /// The first parts belong to the contract itself, so that whoever comes first cannot set what a part is worth.
    function enter(uint256 amount) external returns (uint256 parts) {
        if (totalParts == 0) {
            parts = amount - SEED;
            totalParts = SEED;
            partsOf[address(this)] = SEED;
        } else {
            parts = (amount * totalParts) / held;
        }
        require(parts > 0, "too little");
        held += amount;
        totalParts += parts;
        partsOf[msg.sender] += parts;
        stake.pull(msg.sender, amount);
        emit Entered(msg.sender, amount, parts);
    }

    function leave(uint256 parts) external returns (uint256 amount) {
        amount = (parts * held) / totalParts;
        partsOf[msg.sender] -= parts;
        totalParts -= parts;
        held -= amount;
        stake.push(msg.sender, amount);
        emit Left(msg.sender, amount, parts);
    }

    /// Sells the rewards for stake; anybody may call it.
    function compound() external {
        uint256 sold = reward.balanceOf(address(this));
        require(sold > 0 && totalParts > 0, "nothing to sell");
        require(reward.approve(address(swapper), sold), "not approved");
        uint256 bought = swapper.swap(reward, stake, sold, 0, address(this));
        held += bought;
        emit Compounded(sold, bought);
    }

    /// What the rewards that have arrived are worth in stake, to be shown to members.
    function arrived() external view returns (uint256) {
        return quotes.worth(reward, stake, reward.balanceOf(address(this)));
    }
}
