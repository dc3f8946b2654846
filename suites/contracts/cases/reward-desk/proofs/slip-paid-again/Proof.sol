// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {RewardDesk} from "./contracts/RewardDesk.sol";
import {IERC20} from "./contracts/IERC20.sol";
import {TestToken} from "./TestToken.sol";

contract Proof {
    uint256 constant KEY = 0xC0FFEE;

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
        RewardDesk desk = new RewardDesk(IERC20(address(token)), addressOf(KEY));
        token.mint(address(desk), 1000);
        uint256 expires = block.timestamp + 1 days;
        (uint8 v, bytes32 r, bytes32 s) = sign(KEY, desk.digestOf(address(this), 100, 1, expires));
        desk.claim(100, 1, expires, v, r, s);
        try desk.claim(100, 1, expires, v, r, s) {} catch {}
        require(token.balanceOf(address(this)) == 100, "one slip was paid twice");
        (v, r, s) = sign(KEY, desk.digestOf(address(this), 100, 2, expires));
        desk.claim(100, 2, expires, v, r, s);
        require(token.balanceOf(address(this)) == 200, "the slip for another task was refused");
    }
}
