// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {PrintShop} from "./contracts/PrintShop.sol";
import {Actor} from "./Actor.sol";

contract Proof {
    function step1() external {
        PrintShop shop = new PrintShop();
        Actor artist = new Actor();
        artist.mustAct(address(shop), 0, abi.encodeCall(PrintShop.offer, (1 ether, 10)));
        shop.buy{value: 1 ether}(0, address(this));
        require(shop.ownerOf(0, 1) == address(this), "a print cannot be bought");
        bytes[] memory calls = new bytes[](3);
        for (uint256 i = 0; i < 3; i++) calls[i] = abi.encodeCall(PrintShop.buy, (0, address(this)));
        (bool ok, ) = address(shop).call{value: 1 ether}(abi.encodeCall(PrintShop.bundle, (calls)));
        ok;
        require(shop.earnedBy(address(artist)) <= address(shop).balance, "three prints were sold for the price of one");
        bytes[] memory gifts = new bytes[](1);
        gifts[0] = abi.encodeCall(PrintShop.give, (0, 1, address(artist)));
        shop.bundle(gifts);
        require(shop.ownerOf(0, 1) == address(artist), "calls cannot be bundled");
    }
}
