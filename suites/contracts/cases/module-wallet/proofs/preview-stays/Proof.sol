// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {ModuleWallet} from "./contracts/ModuleWallet.sol";
import {Actor} from "./Actor.sol";

contract Sweep {
    function sweep(address payable to) external {
        to.transfer(address(this).balance);
    }

    function half() external view returns (uint256) {
        return address(this).balance / 2;
    }
}

contract Proof {
    function step1() external {
        ModuleWallet wallet = new ModuleWallet{value: 5 ether}(address(this));
        Sweep code = new Sweep();
        Actor stranger = new Actor();
        bytes memory data = abi.encodeCall(Sweep.sweep, (payable(address(stranger))));
        stranger.act(address(wallet), 0, abi.encodeCall(ModuleWallet.preview, (address(code), data)));
        require(address(stranger).balance == 0, "a stranger emptied the wallet");
        wallet.setModule(address(code), true);
        bytes memory result = wallet.run(address(code), abi.encodeCall(Sweep.half, ()));
        require(abi.decode(result, (uint256)) == 2.5 ether, "an enabled module does not run");
        (, result) = address(wallet).call(abi.encodeCall(ModuleWallet.preview, (address(code), abi.encodeCall(Sweep.half, ()))));
        require(result.length >= 32, "a preview shows nothing");
    }
}
