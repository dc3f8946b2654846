// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {FeedLoans, IFeed} from "./contracts/FeedLoans.sol";
import {IERC20} from "./contracts/IERC20.sol";
import {TestToken} from "./TestToken.sol";

contract Feed is IFeed {
    uint8 public constant decimals = 8;
    uint256 immutable at = block.timestamp;

    function latestRoundData() external view returns (uint80, int256, uint256, uint256, uint80) {
        return (7, 3000e8, at, at, 7);
    }
}

contract Proof {
    FeedLoans loans;

    function step1() external returns (uint256) {
        TestToken stable = new TestToken();
        loans = new FeedLoans(IERC20(address(stable)), new Feed());
        stable.mint(address(loans), 1_000_000 ether);
        loans.borrow{value: 1 ether}(1900 ether);
        require(stable.balanceOf(address(this)) == 1900 ether, "a fair loan was refused");
        return 3 days;
    }

    function step2() external {
        // The feed has been silent for three days.
        try loans.borrow{value: 100 ether}(198_000 ether) {} catch {}
        require(loans.debtOf(address(this)) == 1900 ether, "money was lent at a price of three days ago");
    }
}
