// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {IERC20} from "./IERC20.sol";
import {TokenTransfer} from "./TokenTransfer.sol";

/// The end of a bridge on this chain. A validator signs for every deposit on the other chain; with that signature anybody
/// can have the tokens released to the receiver.
contract BridgeRelease {
    using TokenTransfer for IERC20;

    IERC20 public immutable token;
    address public immutable validator;
    uint256 public immutable otherChain;
    uint256 public dailyLimit;
    mapping(uint256 => uint256) public releasedOn;
    mapping(bytes32 => bool) public isUsed;

    event Released(address indexed to, uint256 amount, uint256 indexed deposit);

    constructor(IERC20 token_, address validator_, uint256 otherChain_, uint256 dailyLimit_) {
        require(validator_ != address(0), "validator missing");
        token = token_;
        validator = validator_;
        otherChain = otherChain_;
        dailyLimit = dailyLimit_;
    }

    function messageOf(address to, uint256 amount, uint256 deposit) public view returns (bytes32) {
        bytes32 content = keccak256(abi.encode(otherChain, block.chainid, address(this), to, amount, deposit));
        return keccak256(abi.encodePacked("\x19Ethereum Signed Message:\n32", content));
    }

    function release(address to, uint256 amount, uint256 deposit, bytes calldata signature) external {
        require(to != address(0) && amount > 0, "bad release");
        bytes32 mark = keccak256(signature);
        require(!isUsed[mark], "already released");
        isUsed[mark] = true;
        require(signerOf(messageOf(to, amount, deposit), signature) == validator, "not signed");
        uint256 day = block.timestamp / 1 days;
        releasedOn[day] += amount;
        require(releasedOn[day] <= dailyLimit, "limit of the day");
        token.push(to, amount);
        emit Released(to, amount, deposit);
    }

    function signerOf(bytes32 message, bytes calldata signature) private pure returns (address signer) {
        require(signature.length == 65, "bad length");
        bytes32 r = bytes32(signature[0:32]);
        bytes32 s = bytes32(signature[32:64]);
        uint8 v = uint8(signature[64]);
        signer = ecrecover(message, v, r, s);
        require(signer != address(0), "bad signature");
    }
}
