// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {BridgeRelease} from "./contracts/BridgeRelease.sol";
import {IERC20} from "./contracts/IERC20.sol";
import {TestToken} from "./TestToken.sol";

contract Proof {
    uint256 constant KEY = 0xC0FFEE;
    uint256 constant ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141;

    function sign(uint256 key, bytes32 digest) private view returns (uint8 v, bytes32 r, bytes32 s) {
        (, bytes memory result) = address(0x5160).staticcall(abi.encode(key, digest));
        return abi.decode(result, (uint8, bytes32, bytes32));
    }

    function addressOf(uint256 key) private view returns (address) {
        (uint8 v, bytes32 r, bytes32 s) = sign(key, bytes32(uint256(1)));
        return ecrecover(bytes32(uint256(1)), v, r, s);
    }

    function step1() external {
        TestToken token = new TestToken();
        BridgeRelease bridge = new BridgeRelease(IERC20(address(token)), addressOf(KEY), 10, 1000);
        token.mint(address(bridge), 1000);
        (uint8 v, bytes32 r, bytes32 s) = sign(KEY, bridge.messageOf(address(this), 100, 1));
        bridge.release(address(this), 100, 1, abi.encodePacked(r, s, v));
        bytes memory other = abi.encodePacked(r, bytes32(ORDER - uint256(s)), v == 27 ? uint8(28) : uint8(27));
        try bridge.release(address(this), 100, 1, other) {} catch {}
        require(token.balanceOf(address(this)) == 100, "one deposit was released twice");
        (v, r, s) = sign(KEY, bridge.messageOf(address(this), 50, 2));
        bridge.release(address(this), 50, 2, abi.encodePacked(r, s, v));
        require(token.balanceOf(address(this)) == 150, "the next deposit was not released");
    }
}
