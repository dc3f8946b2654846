// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {SpendingWallet} from "./contracts/SpendingWallet.sol";
import {Actor} from "./Actor.sol";

/// Something the owner has a reason to call.
contract Shop {
    SpendingWallet immutable wallet;

    constructor(SpendingWallet wallet_) {
        wallet = wallet_;
    }

    function order() external {
        try wallet.pay(address(this), 5 ether) {} catch {}
    }

    receive() external payable {}
}

contract Proof {
    function step1() external {
        // Whoever sends this transaction owns the first wallet, and this contract owns the second.
        SpendingWallet wallet = new SpendingWallet{value: 5 ether}(tx.origin, 1 ether);
        Shop shop = new Shop(wallet);
        shop.order();
        require(address(shop).balance == 0, "a contract that the owner calls can pay itself");
        SpendingWallet own = new SpendingWallet{value: 5 ether}(address(this), 1 ether);
        Actor receiver = new Actor();
        own.pay(address(receiver), 2 ether);
        require(address(receiver).balance == 2 ether, "the owner cannot pay");
    }
}
