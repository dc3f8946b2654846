// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {IERC20} from "./IERC20.sol";
import {TokenTransfer} from "./TokenTransfer.sol";

/// Salaries that flow by the second. The payer may stop a stream; what has flowed by then belongs to the payee.
contract PaymentStreams {
    using TokenTransfer for IERC20;

    struct Stream {
        address payer;
        address payee;
        IERC20 token;
        uint128 total;
        uint128 taken;
        uint64 start;
        uint64 stop;
    }

    Stream[] public streams;

    event Started(uint256 indexed id, address indexed payer, address indexed payee, uint256 total);
    event Taken(uint256 indexed id, uint256 amount, address signedBy);
    event Stopped(uint256 indexed id, uint256 back);

    function start(address payee, IERC20 token, uint128 total, uint64 duration) external returns (uint256 id) {
        require(payee != address(0) && total > 0, "bad stream");
        require(duration >= 1 days && duration <= 3650 days, "bad duration");
        uint256 before = token.balanceOf(address(this));
        token.pull(msg.sender, total);
        require(token.balanceOf(address(this)) == before + total, "token takes a fee");
        id = streams.length;
        uint64 begin = uint64(block.timestamp);
        streams.push(Stream(msg.sender, payee, token, total, 0, begin, begin + duration));
        emit Started(id, msg.sender, payee, total);
    }

    function flowed(uint256 id) public view returns (uint256) {
        Stream memory stream = streams[id];
        if (block.timestamp >= stream.stop) return stream.total;
        unchecked {
            // 128 bits times 64 bits fit, start lies in the past, and stop after it.
            return (uint256(stream.total) * (block.timestamp - stream.start)) / (stream.stop - stream.start);
        }
    }

    /// Sends what has flowed to the payee; anybody may pay the gas for it.
    function take(uint256 id) public {
        Stream storage stream = streams[id];
        uint256 amount = flowed(id) - stream.taken;
        require(amount > 0, "nothing flowed");
        stream.taken += uint128(amount);
        stream.token.push(stream.payee, amount);
        emit Taken(id, amount, tx.origin);
    }

    function stopNow(uint256 id) external {
        Stream storage stream = streams[id];
        require(msg.sender == stream.payer && block.timestamp < stream.stop, "cannot stop");
        uint128 due = uint128(flowed(id));
        uint256 back = stream.total - due;
        stream.total = due;
        stream.stop = uint64(block.timestamp);
        stream.token.push(stream.payer, back);
        emit Stopped(id, back);
    }
}
