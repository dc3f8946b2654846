// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {KeyAccounts} from "./contracts/KeyAccounts.sol";
import {Actor} from "./Actor.sol";

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
        KeyAccounts accounts = new KeyAccounts();
        accounts.open{value: 5 ether}();
        accounts.open{value: 5 ether}();
        accounts.setGuardian(1, addressOf(KEY));
        Actor stranger = new Actor();
        bytes memory forged = abi.encodeCall(KeyAccounts.replaceKey, (0, address(stranger), 0, bytes32(0), bytes32(0)));
        stranger.act(address(accounts), 0, forged);
        stranger.act(address(accounts), 0, abi.encodeCall(KeyAccounts.send, (0, address(stranger), 5 ether)));
        require(address(stranger).balance == 0, "a stranger took an account");
        Actor next = new Actor();
        (uint8 v, bytes32 r, bytes32 s) = sign(KEY, accounts.requestOf(1, address(next)));
        accounts.replaceKey(1, address(next), v, r, s);
        next.mustAct(address(accounts), 0, abi.encodeCall(KeyAccounts.send, (1, address(next), 5 ether)));
        require(address(next).balance == 5 ether, "a guardian could not help");
    }
}
