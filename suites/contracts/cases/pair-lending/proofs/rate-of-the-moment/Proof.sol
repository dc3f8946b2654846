// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {PairLending, IPair} from "./contracts/PairLending.sol";
import {IERC20} from "./contracts/IERC20.sol";
import {TestToken} from "./TestToken.sol";

/// A constant-product pair without a fee, that also knows its average over the last half hour.
contract Pair is IPair {
    TestToken immutable asset;
    TestToken immutable cash;

    constructor(TestToken asset_, TestToken cash_) {
        asset = asset_;
        cash = cash_;
    }

    function reserves() public view returns (uint256, uint256) {
        return (asset.balanceOf(address(this)), cash.balanceOf(address(this)));
    }

    function averageRate() external pure returns (uint256, uint256) {
        return (2e18, 1800);
    }

    function buyAsset(uint256 cashIn) external {
        (uint256 a, uint256 c) = reserves();
        cash.transferFrom(msg.sender, address(this), cashIn);
        asset.transfer(msg.sender, a - (a * c) / (c + cashIn));
    }
}

contract Proof {
    function step1() external {
        TestToken asset = new TestToken();
        TestToken cash = new TestToken();
        Pair pair = new Pair(asset, cash);
        PairLending lending = new PairLending(IERC20(address(asset)), IERC20(address(cash)), pair);
        asset.mint(address(pair), 1000 ether);
        cash.mint(address(pair), 2000 ether);
        cash.mint(address(lending), 5000 ether);
        asset.mint(address(this), 10 ether);
        cash.mint(address(this), 8000 ether);
        asset.approve(address(lending), 10 ether);
        cash.approve(address(pair), 8000 ether);
        lending.pledge(10 ether);
        lending.borrow(10 ether);
        require(cash.balanceOf(address(this)) == 8010 ether, "a fair loan was refused");
        // One large trade, as with borrowed money.
        pair.buyAsset(8000 ether);
        try lending.borrow(200 ether) {} catch {}
        require(lending.debtOf(address(this)) <= 10 ether, "a trade raised what can be borrowed");
    }
}
